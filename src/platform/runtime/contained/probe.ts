import { randomBytes } from 'node:crypto'
import { mkdir, readdir, readFile, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { Logger } from 'pino'
import { FIRST_USER_ID } from '../../share/ownership'
import type { Containers } from './containers'
import { cgroupParents, exposedPaths, type Isolation } from './prepareContainer'

const TRIAL_TIMEOUT_MS = 10_000
const EXPECTED_OUTPUT = 'contained'
/** Longer than the names of instances: a deployment may be called `trial`. */
const TRIAL_NAME = /^trial-[0-9a-f]{12}(?:\.log)?$/

/**
 * Starts trial containers to find out whether containers work here, with or without limits and recursive read-only
 * mounts.
 * @param directory a directory of the platform. @throws Error with the message of the last trial if none works
 */
export async function probeIsolation(
  containers: Containers,
  directory: string,
  base: Omit<Isolation, 'cgroupParent' | 'hasRecursiveReadOnly'>,
  dataDir: string,
  log: Logger,
): Promise<Isolation> {
  await removeEarlierTrials(containers, directory)
  let failure: unknown
  let limitsFailure: unknown
  for (const cgroupParent of [...cgroupParents(dataDir, base.isRootless), undefined]) {
    for (const hasRecursiveReadOnly of [true, false]) {
      const isolation = { ...base, cgroupParent, hasRecursiveReadOnly }
      try {
        await runTrial(containers, directory, isolation)
        if (cgroupParent !== undefined || limitsFailure === undefined) return isolation
        log.warn(
          { err: limitsFailure },
          'a trial container with resource limits did not work: instances run without limits of CPU, memory and processes',
        )
        return { ...isolation, limitsFailed: true }
      } catch (error) {
        failure = error
        // The last one: the first may have failed for the want of recursive read-only mounts.
        if (cgroupParent !== undefined) limitsFailure = error
      }
    }
  }
  throw failure
}

/** Removes what trials have left whose platform was killed. The driver removes their containers. */
async function removeEarlierTrials(containers: Containers, directory: string): Promise<void> {
  for (const parent of [directory, containers.exitDirectory, dirname(containers.logFile(''))]) {
    for (const name of await readdir(parent))
      if (TRIAL_NAME.test(name)) await rm(join(parent, name), { recursive: true, force: true })
  }
}

async function runTrial(
  containers: Containers,
  directory: string,
  { isRootless, cgroupParent, hasRecursiveReadOnly, system, hidden }: Isolation,
): Promise<void> {
  const id = `trial-${randomBytes(6).toString('hex')}`
  const workingDirectory = join(directory, id)
  const uid = isRootless ? (process.getuid?.() ?? 0) : FIRST_USER_ID
  await mkdir(workingDirectory, { mode: 0o755 })
  try {
    await containers.create(id, id, {
      command: ['/bin/sh', '-c', `echo ${EXPECTED_OUTPUT}`],
      uid,
      gid: isRootless ? (process.getgid?.() ?? 0) : uid,
      env: { PATH: system.path },
      directory: workingDirectory,
      readable: system.readable.map((path) => ({ source: path, target: path })),
      hidden: exposedPaths(hidden, system),
      cgroup:
        cgroupParent === undefined ? undefined : { path: `${cgroupParent}/${id}`, cores: 1, memoryBytes: 64 * 2 ** 20 },
      isRootless,
      hasRecursiveReadOnly,
    })
    await containers.start(id)
    const deadline = performance.now() + TRIAL_TIMEOUT_MS
    while ((await containers.exitCode(id)) === undefined && performance.now() < deadline) await delay(5)
    const code = await containers.exitCode(id)
    const output = await readFile(containers.logFile(id), 'utf8').catch(() => '')
    if (code !== 0 || !output.includes(EXPECTED_OUTPUT))
      throw new Error(`a container was started and ended with ${code ?? 'no exit code'}: ${output.slice(0, 500)}`)
  } finally {
    await containers.remove(id).catch(() => undefined)
    await rm(workingDirectory, { recursive: true, force: true })
    await rm(containers.logFile(id), { force: true })
  }
}
