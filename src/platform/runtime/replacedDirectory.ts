import {
  closeSync,
  constants,
  existsSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  statSync,
} from 'node:fs'
import { basename, join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { StartError } from '../errors'
import { containedBundles } from './contained/containedRuntime'
import { HostClient, instancesDirectory } from './local/hostClient'
import { pidNamespaceOf, processIds } from './processes'

/** Longer than a conmon or a host needs to end, or a host to listen. */
const SETTLE_MS = 10_000

/**
 * Requires that no instances run in a data directory that was at this path before: a backup was restored, or the files
 * of the runtime were removed, without `stop:all`. The present records do not know these instances, which would be
 * started a second time, a persistent one in the same directory.
 * @throws StartError that names their processes
 */
export async function requireNoEarlierRuns(dataDir: string): Promise<void> {
  if (!existsSync(dataDir)) return
  const deadline = performance.now() + SETTLE_MS
  while (true) {
    const pids = [...containersWithoutFiles(dataDir), ...(await hostsWithoutSocket(dataDir))]
    if (pids.length === 0) return
    if (performance.now() > deadline)
      throw new StartError([
        `${dataDir} was replaced, as by a backup, while its instances were running: end those that it does not know first (kill ${pids.join(' ')})`,
      ])
    await delay(50)
  }
}

/**
 * Requires that no instances of a data directory run where this process cannot see them: the platform was moved into a
 * container, or out of it, while its instances ran on. They would count as ended, and be started a second time.
 * @throws StartError
 */
export function requireVisibleRuns(dataDir: string): void {
  const bundles = join(dataDir, containedBundles)
  const ids = existsSync(bundles) ? readdirSync(bundles) : []
  // In this order: an instance may end meanwhile.
  if (!ids.some((id) => !isMonitorVisible(join(bundles, id)) && hasMonitor(join(bundles, id)))) return
  throw new StartError([
    `Instances of ${dataDir} run in another container, or outside of this one: stop them with stop:all there first`,
  ])
}

/** Whether a conmon has its control file open, whatever container it is in: only then a FIFO can be opened so. */
function hasMonitor(bundle: string): boolean {
  try {
    closeSync(openSync(join(bundle, 'ctl'), constants.O_WRONLY | constants.O_NONBLOCK))
    return true
  } catch {
    return false
  }
}

/**
 * Whether this process sees the conmon, by its command line with the id of its container: any process may read it. Its
 * path may differ where it has other mounts, and its directory is hidden where it has further capabilities (ptrace(2)).
 */
function isMonitorVisible(bundle: string): boolean {
  const pid = readText(join(bundle, 'conmon.pid'))?.trim() ?? ''
  return readText(`/proc/${pid}/cmdline`)?.split('\0').includes(basename(bundle)) ?? false
}

/** The first processes of containers whose conmon is in a directory of this path that was removed. */
function containersWithoutFiles(dataDir: string): string[] {
  // As the kernel shows the working directory of a conmon, which is that of its container's files.
  const bundles = `${realpathSync(dataDir)}/${containedBundles}/`
  return processesOfOurs().flatMap((pid) => {
    const directory = linkOf(`/proc/${pid}/cwd`)
    if (!directory?.startsWith(bundles) || !directory.endsWith(' (deleted)')) return []
    return childrenOf(pid)
  })
}

/** Hosts of plain processes of this directory that cannot be reached, and their instances, which outlive them. */
async function hostsWithoutSocket(dataDir: string): Promise<string[]> {
  const directory = instancesDirectory(dataDir)
  const hosts = processesOfOurs().filter((pid) => {
    const words = readText(`/proc/${pid}/cmdline`)?.split('\0') ?? []
    return words.includes(directory) && words.some((word) => /\/hostMain\.[jt]s$/.test(word))
  })
  if (hosts.length === 0) return []
  const host = await HostClient.connect(dataDir)
  host?.close()
  return host ? [] : [...hosts.flatMap(childrenOf), ...hosts]
}

/** Processes of this user in this PID namespace: not those of contained instances, which may use any name. */
function processesOfOurs(): string[] {
  const namespace = pidNamespaceOf('self')
  return processIds().filter((pid) => {
    const owner = statSync(`/proc/${pid}`, { throwIfNoEntry: false })?.uid
    return owner === process.getuid?.() && pidNamespaceOf(pid) === namespace
  })
}

function childrenOf(pid: string): string[] {
  const children = readText(`/proc/${pid}/task/${pid}/children`) ?? ''
  return children.split(' ').filter((child) => child !== '')
}

function linkOf(path: string): string | undefined {
  try {
    return readlinkSync(path)
  } catch {
    return undefined
  }
}

/** @returns undefined if the process has ended */
function readText(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return undefined
  }
}
