import type { NodeDetails } from '../../contract/network'
import type { SyncSource } from '../share/replicas/replicas'

/** Everything that a driver needs to run one instance, independent of its definition. */
export interface InstanceSpec {
  /** Unique and stable for the life of the instance. */
  podName: string
  /** Name of its deployment. With isolation, the instances of a deployment share a user id. */
  deployment: string
  /** The container image, for drivers that need one; undefined: the default one. */
  image: string | undefined
  /** The node that it must run on; undefined: any. */
  node: string | undefined
  /** The program and its arguments; never parsed by a shell. */
  command: [program: string, ...args: string[]]
  /** The deployment's directory: a path in the shared area, such as `/lobby`. */
  dataDirectory: string
  /** Whether it runs in its own copy of that directory, made at each start, or in the directory itself. */
  copy: boolean
  /** Paths in its copy that are written back to the directory after an orderly end: relative, may contain `*`. */
  keep?: string[]
  /** Paths of directories in the shared area, which the instance may read at the path that the console shows. */
  mounts: string[]
  /** Environment variables in addition to PATH, HOME, LANG and TZ. */
  env: Record<string, string>
  /** Whether it has a peers file. The variable QUARTERDECK_PEERS contains the file's path. */
  hasPeers: boolean
  /** The port assigned to it, as shown in lists. */
  port: number | undefined
  /** The instance is ready when a console line matches this regular expression; without one, immediately. */
  ready: string | undefined
  stop: {
    /** Written to standard input, followed by a line feed. */
    command: string | undefined
    /** Time between the stop command and SIGTERM. */
    timeoutSeconds: number
  }
  /** Resource limits; undefined: unlimited. */
  limits: {
    cores: number | undefined
    memoryBytes: number | undefined
  }
}

/** A specification with the paths of this machine (see localPaths.ts). */
export interface LocalSpec extends Omit<InstanceSpec, 'image' | 'node' | 'dataDirectory' | 'mounts' | 'hasPeers'> {
  dataDirectory?: string
  /** Absolute path of the deployment's directory, or of its copy. */
  directory: string
  /** The id of the run, if it is listed already, because its files were copied first. */
  runId?: string
  /** If the directory is a copy: absolute path of the file with which the driver marks it (copyMarker.ts). */
  copyMarker?: string
  /** Read-only directories: absolute path on this machine, and path for the instance. */
  mounts?: { source: string; target: string }[]
  /**
   * Absolute path of a directory of the platform that holds only the peers file. The instance can read it at this path;
   * the file is replaced by a rename within it.
   */
  peersDirectory?: string
}

/** Standard output and standard error of a program. */
export type OutputType = 'message' | 'error'
/** `system` marks lines of the platform; a program cannot write them. */
export type ConsoleLineType = OutputType | 'system'

export interface ConsoleLine {
  /** Number of the line, from 1 per instance and without gaps. */
  seq: number
  type: ConsoleLineType
  content: string
}

/** How a run ended. */
export interface InstanceExit {
  code: number | null
  signal: string | null
  /** Milliseconds since the epoch. */
  at: number
  /** Whether stop or kill was requested; otherwise it ended by itself. */
  requested: boolean
  /**
   * Whether its files are complete: it was stopped without SIGKILL, or ended by itself with exit code 0. Absent in
   * records of older versions.
   */
  orderly?: boolean
  /** Reason why it could not be started, as text for users. */
  failure: string | undefined
  /**
   * Whether that reason lies with the machine, or with files that are copied, and may be gone at the next attempt, such
   * as a limit of processes. Such a failure is no crash.
   */
  isTemporary?: boolean
  /**
   * What ended it, or may have, if neither the program nor a request did: the cluster, or a restart of the machine. A
   * sentence for users. Such an end is no crash.
   */
  interruption?: string
  /**
   * Why the system killed its program, as text for users: `Killed for memory: it may use 512Mi.` Undefined if it did
   * not.
   */
  killed?: string
}

/** A process of this machine. */
export interface RunProcess {
  pid: number
  /** See startTimeOf. Undefined if it was not recorded. */
  startTime: string | undefined
}

export interface RuntimeInstance {
  podName: string
  /** Identifies this run; every start creates a new one. */
  runId: string
  state: 'STARTING' | 'RUNNING' | 'STOPPING' | 'EXITED'
  ip: string
  /** The port assigned to this run. */
  port: number | undefined
  /** Milliseconds since the epoch. */
  startedAt: number
  exit: InstanceExit | undefined
  /** Why a run whose program has ended is still STOPPING, as text for users; undefined if it should end soon. */
  problem?: string | undefined
  /** What a STARTING run whose program does not run yet waits for. */
  waitsFor?: 'the copy of its files' | 'its program to start' | undefined
  /** The node of the cluster that it runs on. Undefined on this machine, and until a node is chosen. */
  node?: string | undefined
  /**
   * Its first process, which leads its session and, in a container, its PID namespace. A run of a plain process keeps
   * it after its end, because others of its session may be left. Undefined in a cluster, before there is a process, and
   * from older hosts.
   */
  process?: RunProcess | undefined
}

/** Fields that only the stored record of a run has. */
export interface StoredRun {
  runId: string
  /** The directory of the record: in a copy of the data directory, that of the original. Absent in older records. */
  storedIn?: string
  /** See PROCESS_SCOPE. Absent in older records. */
  scope?: string
}

export interface Usage {
  podName: string
  /** Identifies the run, because CPU times of different runs must not be subtracted. */
  runId: string
  /** CPU time of all its processes since the start of the run. */
  cpuMs: number
  /** Resident memory of all its processes. */
  memoryBytes: number
}

/** A deployment that players or other programs connect to. */
export interface PublishedDeployment {
  deployment: string
  port: number
  /** How it is reached from outside of the cluster. */
  expose: 'none' | 'nodePort' | 'loadBalancer'
}

/**
 * Where instances run. The manager compares the desired state with `list` and calls the other methods; it does not know
 * the driver. Every method is idempotent.
 */
export interface Runtime<Spec = InstanceSpec> {
  /** Own containers, or plain processes with the rights of the platform's user (decisions §12). */
  readonly isolation: 'contained' | 'plain'
  /** How limits are enforced, as text for users. */
  readonly limits: string
  /** Which limits are enforced. */
  readonly enforced: { cpu: boolean; memory: boolean }
  /** Whether instances share the ports of one machine. Otherwise each has an address of its own. */
  readonly sharesPorts: boolean
  /** Whether copies are made from this machine's replicas of the shared area (see `share/replicas`). */
  readonly usesReplicas: boolean
  /** The sync of copies that are made without replicas; undefined where `usesReplicas`. */
  readonly copySync?: SyncSource
  /**
   * When the service that runs the instances last answered, in milliseconds since the epoch; 0: never. Absent for
   * instances of this machine.
   */
  readonly lastContactAt?: number
  /** Starts the instance unless it runs. Resolves after the start, without waiting for readiness. */
  ensure(spec: Spec): Promise<void>
  /** Begins a graceful stop: the stop command, SIGTERM after its timeout, SIGKILL 10 s later. */
  stop(podName: string): Promise<void>
  kill(podName: string): Promise<void>
  /** Deletes an instance that does not run, with its console and its copy. */
  remove(podName: string): Promise<void>
  /**
   * All known instances, running or ended; as last known while the service that runs them does not answer.
   * @throws AppError UNAVAILABLE while none is known
   */
  list(): Promise<RuntimeInstance[]>
  /** Calls the listener after every change of an instance's state. @returns a function that unsubscribes. */
  watch(listener: () => void): () => void
  /** The last lines of an instance's console, oldest first; at most 10,000 are stored. */
  history(podName: string, lines: number): Promise<ConsoleLine[]>
  /**
   * Subscribes to an instance's console from a line number on: first passes the stored lines, then every new one, in
   * order. Lines are missing if more than 10,000 came while the runtime was away, or if the driver cannot keep up. A
   * new listener replaces the instance's old one.
   * @returns a function that unsubscribes.
   */
  follow(podName: string, since: number, listener: (lines: ConsoleLine[]) => void): Promise<() => void>
  /** Appends a line of the platform to an instance's console, even if it never ran. */
  note(podName: string, text: string): Promise<void>
  /**
   * Writes a line to the instance's standard input.
   * @returns false if it does not run or its input buffer is full.
   */
  write(podName: string, line: string): Promise<boolean>
  /** The nodes of the cluster; undefined where instances run on this machine alone. @throws AppError UNAVAILABLE */
  nodes?: () => Promise<NodeDetails[]>
  /**
   * Makes exactly these deployments reachable by name, where instances have addresses of their own.
   * @throws AppError UNAVAILABLE
   */
  publish?: (deployments: PublishedDeployment[]) => Promise<void>
  /** Current usage of every running instance. */
  sample(): Promise<Usage[]>
  /** Closes the runtime; instances continue to run. */
  close(): Promise<void>
}

/** Runs instances in their directory without copying it; `withCopies` adds the copies. */
export interface Driver extends Runtime<LocalSpec> {
  /** Records a start that failed before there was a process. @param isTemporary as in `InstanceExit` */
  startFailed(spec: LocalSpec, failure: string, isTemporary: boolean): Promise<void>
}
