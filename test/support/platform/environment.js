const { rm } = require('node:fs/promises')
const { TestEnvironment } = require('jest-environment-node')

/**
 * Removes the temporary directories of a test file after its last hook. Not in an `afterAll`: jest runs these in the
 * order of their definition, so the directory would be gone before the test ends what works in it.
 */
module.exports = class PlatformEnvironment extends TestEnvironment {
  async setup() {
    await super.setup()
    this.global.temporaryDirectories = []
  }

  async teardown() {
    const paths = this.global.temporaryDirectories
    // Repeated while a program that is ending still writes into it.
    await Promise.all(paths.map((path) => rm(path, { recursive: true, force: true, maxRetries: 10 })))
    await super.teardown()
  }
}
