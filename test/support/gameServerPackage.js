const { existsSync } = require('node:fs')
const { join } = require('node:path')

/** The package for tests with a real game server, installed separately because it is large and used only there. */
const name = 'minecraft-protocol'
const version = '1.68.0'
const directory = join(__dirname, '../../.cache', `${name}-${version}`)

module.exports = {
  spec: `${name}@${version}`,
  directory,
  /** Written last by src/setup.js: without it the installation was interrupted. */
  stamp: join(directory, '.installed'),
  /** The value for NODE_PATH; undefined if it could not be installed. */
  modules: () => (existsSync(join(directory, '.installed')) ? join(directory, 'node_modules') : undefined),
}
