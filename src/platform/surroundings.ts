import type { Logger } from 'pino'

/** Functions that close what was opened, called in reverse order. */
export type Closers = (() => Promise<unknown>)[]

/** Dependencies with which every part of the platform is opened. */
export interface Surroundings {
  log: Logger
  /** Receives a function for each part once it is open, so that a failed start can be undone. */
  closers: Closers
  /** Called when another platform has taken over the database. */
  onLost: () => void
  /** Called once the data directory is this platform's, before anything else is opened. It throws to end the start. */
  onLocked?: () => Promise<void>
}
