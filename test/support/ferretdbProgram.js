const { existsSync } = require('node:fs')
const { join } = require('node:path')

/** The server for tests of MongoDB databases where there is no mongod, built from source by src/setup.js. */
const version = '1.24.2'
const directory = join(__dirname, '../../.cache', `ferretdb-${version}`)

module.exports = {
  module: 'github.com/FerretDB/FerretDB',
  version,
  directory,
  /** The folder to put on the PATH; undefined if it could not be built. */
  folder: () => (existsSync(join(directory, 'ferretdb')) ? directory : undefined),
}
