const { existsSync } = require('node:fs')
const { join } = require('node:path')

/** What the tests of MongoDB databases run against where there is no mongod: built from its source by src/setup.js. */
const version = '1.24.2'
const directory = join(__dirname, '../../.cache', `ferretdb-${version}`)

module.exports = {
  module: 'github.com/FerretDB/FerretDB',
  version,
  directory,
  /** The folder to put on the PATH; undefined where it could not be built. */
  folder: () => (existsSync(join(directory, 'ferretdb')) ? directory : undefined),
}
