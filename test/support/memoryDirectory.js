const { readFileSync, statfsSync } = require('node:fs')
const { freemem } = require('node:os')

const PATH = '/dev/shm'
/** What the tests hold at most at a time, with room to spare: the test of large files has 4 GB of them. */
const NEEDED_BYTES = 10 * 2 ** 30

/**
 * The directory for temporary files that the kernel keeps in memory, where it may hold programs and memory is plentiful;
 * else undefined. Tests make and remove some hundred thousand files, which takes three times as long on a disk.
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
    // No Linux.
    return undefined
  }
}

module.exports = { memoryDirectory }
