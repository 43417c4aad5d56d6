const { existsSync } = require('node:fs')
const { join } = require('node:path')

/** What the tests with a real game server need, kept apart from the project's own packages: it is large, and theirs alone. */
const name = 'minecraft-protocol'
const version = '1.68.0'
const directory = join(__dirname, '../../.cache', `${name}-${version}`)

module.exports = {
  spec: `${name}@${version}`,
  directory,
  /** Written last by src/setup.js: without it the installation was cut off. */
  stamp: join(directory, '.installed'),
  /** As a NODE_PATH; undefined where it could not be installed. */
  modules: () => (existsSync(join(directory, '.installed')) ? join(directory, 'node_modules') : undefined),
}
