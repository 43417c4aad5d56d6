const { readFileSync, statfsSync } = require('node:fs')
const { freemem } = require('node:os')

const PATH = '/dev/shm'
/** The maximum that tests store at a time, with a margin: the test of large files needs 4 GB of it. */
const NEEDED_BYTES = 10 * 2 ** 30

/**
 * The directory for temporary files in memory if it allows executables and memory is plentiful, otherwise undefined.
 * Tests create and remove some hundred thousand files, which takes three times as long on a disk.
 */
function memoryDirectory() {
  try {
    const mount = readFileSync('/proc/mounts', 'utf8')
      .split('\n')
      .map((line) => line.split(' '))
      .find(([, path]) => path === PATH)
    const isUsable = mount?.[2] === 'tmpfs' && !/\b(?:noexec|ro)\b/.test(mount[3])
    const { bavail, bsize } = statfsSync(PATH)
    return isUsable && Math.min(bavail * bsize, freemem()) > NEEDED_BYTES ? PATH : undefined
  } catch {
    // Not Linux.
    return undefined
  }
}

module.exports = { memoryDirectory }
