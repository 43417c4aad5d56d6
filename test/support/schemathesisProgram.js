const { existsSync } = require('node:fs')
const { join } = require('node:path')

/** The program of PyPI that tries an API by its description, in a Python environment of its own. */
const name = 'schemathesis'
const version = '4.32.5'
const directory = join(__dirname, '../../.cache', `${name}-${version}`)
/** Written last by src/setup.js: without it the installation was interrupted. */
const stamp = join(directory, '.installed')

module.exports = {
  spec: `${name}==${version}`,
  directory,
  stamp,
  /** The path of the program; undefined if it could not be installed. */
  program: () => (existsSync(stamp) ? join(directory, 'bin', name) : undefined),
}
