/** What runs one instance: everything a driver needs, and nothing of where it came from. */
export interface InstanceSpec {
  /** Unique, and stable for the instance's life. */
  podName: string
  /** The name of its deployment, whose instances share one user id where they are isolated. */
  deployment: string
  /** The program and its arguments. Never a shell's text. */
  command: [program: string, ...args: string[]]
  /** Absolute path of its deployment's directory in the shared area. */
  directory: string
  /** Whether it runs in a copy of its own of that directory, made at each start; otherwise in the directory itself. */
  copy: boolean
  /** Paths within its copy that are written back to `directory` after an orderly end: relative, with `*`. Absent: none. */
  keep?: string[]
  /** Directories of the shared area that it may read: real paths of this machine, and where the instance finds them. Absent: none. */
  mounts?: { source: string; target: string }[]
  /** All of its environment besides PATH, HOME, LANG and TZ. */
  env: Record<string, string>
  /**
   * Absolute path of a directory of the platform that holds the file of the instance's environment variable QUARTERDECK_PEERS, and nothing
   * else. The instance may read it, at this path; the file is replaced by renaming within it. Absent where the definition asks for none.
   */
  peersDirectory?: string
  /** Where it is told to listen, for those who list it. */
  port: number | undefined
  /** A console line that matches this regular expression says that it is ready; without one it is ready at once. */
  ready: string | undefined
  stop: {
    /** Written to its standard input, with a line feed. */
    command: string | undefined
    /** From the stop command to SIGTERM. */
    timeoutSeconds: number
  }
  /** What it may use at most; undefined: what the machine has. */
  limits: {
    cores: number | undefined
    memoryBytes: number | undefined
  }
}

/** What a program writes to its standard output and to its standard error. */
export type OutputType = 'message' | 'error'
/** `system` marks lines of the platform itself; no program can write one. */
export type ConsoleLineType = OutputType | 'system'

export interface ConsoleLine {
  /** Counted from 1 per instance, without gaps. */
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
  /** Whether stop or kill was asked for: any other end is one by itself. */
  requested: boolean
  /** Whether it ended after a stop, without having been killed: only then its files are whole. Absent in records of older versions. */
  orderly?: boolean
  /** Why it could not even be started, for people. */
  failure: string | undefined
}

export interface RuntimeInstance {
  podName: string
  /** Of this run. Another start is another run. */
  runId: string
  state: 'STARTING' | 'RUNNING' | 'STOPPING' | 'EXITED'
  ip: string
  /** Where this run was told to listen. */
  port: number | undefined
  /** Milliseconds since the epoch. */
  startedAt: number
  exit: InstanceExit | undefined
}

export interface Usage {
  podName: string
  /** Whose usage it is: what another run used is no beginning for it. */
  runId: string
  /** Processor time used since its start, in milliseconds, of all its processes. */
  cpuMs: number
  /** Resident memory of all its processes, in bytes. */
  memoryBytes: number
}

/**
 * Where instances run. The manager compares what is wanted with `list` and calls the rest; it does not know which
 * driver it has. Every call may be repeated: asking for what is already so does nothing.
 */
export interface Runtime {
  /** Whether instances run in containers of their own, or as plain processes that may do what the platform's user may (decisions §12). */
  readonly isolation: 'contained' | 'plain'
  /** How limits are enforced here, for people. */
  readonly limits: string
  /** Which limits of a specification are enforced here. */
  readonly enforced: { cpu: boolean; memory: boolean }
  /** Starts the instance unless it runs. Resolves when the start was made, not when it is ready. */
  ensure(spec: InstanceSpec): Promise<void>
  /** Begins a graceful end: the stop command, SIGTERM after its timeout, SIGKILL 10 s later. */
  stop(podName: string): Promise<void>
  kill(podName: string): Promise<void>
  /** Forgets an instance that does not run, with its console and its copy of the files. */
  remove(podName: string): Promise<void>
  /** Everything known, running or ended. */
  list(): Promise<RuntimeInstance[]>
  /** Calls the listener after every change of any instance's state. @returns a function that ends it. */
  watch(listener: () => void): () => void
  /** The last lines of an instance's console, oldest first; at most 10,000 are kept. */
  history(podName: string, lines: number): Promise<ConsoleLine[]>
  /**
   * Tells of an instance's console lines from a number on: first, at once, those that are kept, then every new one, in
   * order and without gaps unless more than 10,000 came while the runtime was away. One listener an instance: another
   * one takes its place.
   * @returns a function that ends it.
   */
  follow(podName: string, since: number, listener: (lines: ConsoleLine[]) => void): Promise<() => void>
  /** Adds a line of the platform itself to an instance's console, whether it ever ran or not. */
  note(podName: string, text: string): Promise<void>
  /**
   * Writes a line to the instance's standard input.
   * @returns false when it does not run, or does not read what it is written.
   */
  write(podName: string, line: string): Promise<boolean>
  /** What every running instance uses at this moment. */
  sample(): Promise<Usage[]>
  /** Lets go of the runtime; instances run on. */
  close(): Promise<void>
}
