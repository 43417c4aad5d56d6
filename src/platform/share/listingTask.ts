/** Directories of more entries are shared out among the processes. */
export const LONG = 4000

/** Asks for the entries of a held directory, or for one share of them. */
export interface ListingTask {
  id: number
  /** Whose descriptor it is. */
  pid: number
  fd: number
  /** As the wire writes it. */
  path: string
  /** The real path of the shared area. */
  root: string
  /** How long the answer may be. In bytes. */
  limit: number
  /** Which names are meant: those that `shareOf` gives this number, from 0. */
  share?: { number: number; of: number }
}

/** What comes before the entries themselves, which are JSON without the brackets around them. */
export interface ListingAnswer {
  id: number
  /** Of the entries that follow. */
  bytes: number
  count?: number
  isTold?: boolean
  /** Nothing was read: there are so many that all should help. */
  isTooLong?: boolean
  /** It would have been longer than it may be. */
  isTooLarge?: boolean
  error?: { code?: string | undefined; message: string }
}

/** Which of so many shares a name belongs to: the same for every process, whatever else is in the directory by then. */
export const shareOf = (name: string, shares: number): number => hash(name) % shares

/** The same in every process and run; 32 bits, not for secrets. */
export function hash(text: string): number {
  let value = 0
  for (let at = 0; at < text.length; at += 1) value = (Math.imul(value, 31) + text.charCodeAt(at)) >>> 0
  return value
}
