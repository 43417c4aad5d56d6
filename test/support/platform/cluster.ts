import { execFile, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)

/**
 * A folder with `up.sh` and `down.sh` that start and end a Kubernetes on this machine; undefined: these tests are
 * skipped.
 */
const scripts = process.env.QUARTERDECK_TEST_CLUSTER
export const hasCluster = scripts !== undefined && existsSync(join(scripts, 'up.sh')) && process.getuid?.() === 0

/**
 * The image of the tests (Node.js and busybox, see `fillImageRoot`) in the existing cluster of `KUBECONFIG`. Its nodes
 * have the directories of this machine, and it has a metrics server. Nothing is done with a KUBECONFIG alone: it may be
 * anyone's.
 */
const existingImage = scripts === undefined ? process.env.QUARTERDECK_TEST_IMAGE : undefined
export const hasRealCluster = hasCluster || (existingImage !== undefined && process.env.KUBECONFIG !== undefined)

/** Title of the tests that need a cluster. */
export const clusterTitle = (title: string) => `${title} (skipped without a cluster: see README.md)`

export interface TestCluster {
  kubeconfig: string
  /** @returns what kubectl prints */
  kubectl: (...args: string[]) => Promise<string>
  /** Applies a manifest, as YAML or JSON. */
  apply(manifest: string): Promise<void>
  /**
   * Creates what a manifest describes. It is gone after `stop`. @throws Error if any of it exists in an existing
   * cluster
   */
  create(manifest: string): Promise<void>
  /** Runs another script of the cluster's folder, with its directory as first argument. */
  script(name: string, ...args: string[]): Promise<void>
  stop(): Promise<void>
}

/** A machine can run one real cluster at a time: each test that needs one waits for this lock. */
const REAL_LOCK = '/tmp/quarterdeck-real-cluster.lock'
/** Timeout of a hook that starts a real cluster, which may have to wait for that of another test. */
export const REAL_CLUSTER_MS = 1_200_000

/**
 * Waits for a kernel lock on a file. It is also released when this process ends.
 * @returns a function that releases it
 */
export async function lockFile(path: string): Promise<() => void> {
  const holder = spawn('flock', [path, 'sh', '-c', 'echo locked && exec cat'], { stdio: ['pipe', 'pipe', 'inherit'] })
  const [event] = (await Promise.race([
    once(holder.stdout, 'data').then(() => ['locked']),
    once(holder, 'close').then(() => ['ended']),
  ])) as [string]
  if (event !== 'locked') throw new Error(`${path} cannot be locked`)
  return () => holder.stdin.end()
}

/**
 * Starts a cluster: `--real` with a kubelet and containerd, or `--kwok` with faked nodes. A real one waits for that of
 * another test: the hook needs `REAL_CLUSTER_MS`.
 */
export async function startCluster(...options: string[]): Promise<TestCluster> {
  const unlock = options.includes('--real') ? await lockFile(REAL_LOCK) : () => undefined
  // Sockets in it have paths of limited length.
  const directory = mkdtempSync(join('/tmp', 'qd-'))
  const folder = scripts ?? ''
  try {
    await run(join(folder, 'up.sh'), [...options, directory])
  } catch (error) {
    unlock()
    throw error
  }
  const connection = connectTo(join(directory, 'kubeconfig'), join(directory, 'bin/kubectl'))
  return {
    ...connection,
    // Nobody else has anything in this cluster.
    create: connection.apply,
    script: async (name, ...args) => void (await run(join(folder, name), [directory, ...args])),
    async stop() {
      await run(join(folder, 'down.sh'), [directory])
      unlock()
      rmSync(directory, { recursive: true, force: true })
    },
  }
}

/** Starts a real cluster, or connects to the existing one. The hook needs `REAL_CLUSTER_MS`. */
export async function openRealCluster(): Promise<TestCluster> {
  if (existingImage === undefined) return startCluster('--real', '--metrics')
  const unlock = await lockFile(REAL_LOCK)
  const connection = connectTo(process.env.KUBECONFIG ?? '', 'kubectl')
  const created: string[] = []
  return {
    ...connection,
    async create(manifest) {
      await connection.create(manifest)
      created.push(manifest)
    },
    script: (name) => Promise.reject(new Error(`An existing cluster has no ${name}`)),
    async stop() {
      const removals = created
        .reverse()
        .map((manifest) => connection.feed(manifest, 'delete', '--ignore-not-found', '--wait=false', '-f', '-'))
      const failures = (await Promise.allSettled(removals)).filter(({ status }) => status === 'rejected')
      unlock()
      if (failures.length > 0) throw new AggregateError(failures, 'Not all that the tests created was removed')
    },
  }
}

function connectTo(kubeconfig: string, program: string) {
  const feed = (input: string, ...args: string[]) =>
    new Promise<void>((resolve, reject) => {
      const child = spawn(program, ['--kubeconfig', kubeconfig, ...args])
      let errors = ''
      child.stderr.on('data', (chunk: Buffer) => (errors += chunk.toString()))
      child.on('error', reject)
      child.on('close', (code) => (code === 0 ? resolve() : reject(new Error(errors))))
      child.stdin.end(input)
    })
  return {
    kubeconfig,
    kubectl: async (...args: string[]) =>
      (await run(program, ['--kubeconfig', kubeconfig, ...args], { maxBuffer: 2 ** 26 })).stdout,
    /** Runs kubectl with a standard input. */
    feed,
    apply: (manifest: string) => feed(manifest, 'apply', '-f', '-'),
    create: (manifest: string) => feed(manifest, 'create', '-f', '-'),
  }
}

export const TEST_IMAGE = existingImage ?? 'quarterdeck.test/node:1'

/** Copies the libraries of a program or another library to the root of an image. */
export function copyLibraries(root: string, path: string): void {
  for (const [, library = ''] of execFileSync('ldd', [path], { encoding: 'utf8' }).matchAll(/(\/\S+)/g)) {
    mkdirSync(join(root, dirname(library)), { recursive: true })
    copyFileSync(realpathSync(library), join(root, library))
  }
}

/**
 * Fills a directory with this machine's Node.js and busybox, as the root of an image. @param programs to add, by name
 */
export function fillImageRoot(root: string, ...programs: string[]): void {
  const pathOf = (program: string) => execFileSync('which', [program], { encoding: 'utf8' }).trim()
  for (const folder of ['bin', 'etc', 'tmp', 'data']) mkdirSync(join(root, folder))
  copyFileSync(pathOf('busybox'), join(root, 'bin/busybox'))
  for (const applet of execFileSync('busybox', ['--list'], { encoding: 'utf8' }).split('\n').filter(Boolean))
    if (applet !== 'busybox') symlinkSync('busybox', join(root, 'bin', applet))
  for (const path of [process.execPath, ...programs.map(pathOf)]) {
    copyFileSync(path, join(root, 'bin', basename(path)))
    copyLibraries(root, path)
  }
}

/** Gives the cluster an image with this machine's Node.js and busybox, unless it has one. */
export async function addTestImage(cluster: TestCluster): Promise<void> {
  if (existingImage !== undefined) return
  const root = mkdtempSync(join(tmpdir(), 'image-'))
  fillImageRoot(root)
  await cluster.script('image.sh', TEST_IMAGE, root, JSON.stringify({ Env: ['PATH=/bin'] }))
  rmSync(root, { recursive: true })
}

/** Creates a namespace that admits only restricted Pods, with a claim of a directory of this machine. */
export async function createNamespace(cluster: TestCluster, namespace: string, shareDir: string): Promise<void> {
  await cluster.create(
    JSON.stringify({
      apiVersion: 'v1',
      kind: 'List',
      items: [
        {
          apiVersion: 'v1',
          kind: 'Namespace',
          metadata: { name: namespace, labels: { 'pod-security.kubernetes.io/enforce': 'restricted' } },
        },
        {
          apiVersion: 'v1',
          kind: 'PersistentVolume',
          metadata: { name: namespace },
          spec: {
            capacity: { storage: '1Gi' },
            accessModes: ['ReadWriteMany'],
            storageClassName: 'none',
            hostPath: { path: shareDir },
            claimRef: { namespace, name: 'quarterdeck-share' },
          },
        },
        {
          apiVersion: 'v1',
          kind: 'PersistentVolumeClaim',
          metadata: { namespace, name: 'quarterdeck-share' },
          spec: {
            accessModes: ['ReadWriteMany'],
            storageClassName: 'none',
            resources: { requests: { storage: '1Gi' } },
            volumeName: namespace,
          },
        },
      ],
    }),
  )
}

/** Adds an event of a Pod, as the kubelet or a controller does. */
export async function addWarning(
  cluster: TestCluster,
  namespace: string,
  podName: string,
  reason: string,
  message: string,
): Promise<void> {
  const uid = (await cluster.kubectl('-n', namespace, 'get', 'pod', podName, '-o', 'jsonpath={.metadata.uid}')).trim()
  const at = new Date().toISOString()
  await cluster.apply(
    JSON.stringify({
      apiVersion: 'v1',
      kind: 'Event',
      metadata: { namespace, name: `${podName}-${reason.toLowerCase()}` },
      involvedObject: { apiVersion: 'v1', kind: 'Pod', namespace, name: podName, uid },
      type: 'Warning',
      reason,
      message,
      firstTimestamp: at,
      lastTimestamp: at,
      count: 1,
    }),
  )
}
