/** Directories of more entries are shared out among the processes. */
export const LONG = 4000
/** Into so many pieces, by their names, the entries of a directory are divided where single ones of them are to be replaced. */
export const BUCKETS = 64

/** Asks for the entries of a held directory, for one share of them, or for those of some names. */
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
  /** Only these. */
  names?: string[]
  /** One piece for each bucket is wanted. */
  isDivided?: boolean
}

/** What comes before the entries themselves, which are JSON without the brackets around them. */
export interface ListingAnswer {
  id: number
  /** How long the pieces are that follow: one; or one for each bucket; or, of single names, one for each, without bytes where there is none. */
  pieces: number[]
  count?: number
  isTold?: boolean
  /** Nothing was read: there are so many that all should help. */
  isTooLong?: boolean
  /** It would have been longer than it may be. */
  isTooLarge?: boolean
  error?: { code?: string | undefined; message: string }
}

/** The same for every process, whatever else is in the directory by then. Spread by Knuth's multiplicative hashing: the last bits of hash are alike for names that count. */
export const bucketOf = (name: string): number => (Math.imul(hash(name), 0x9e3779b1) >>> 16) % BUCKETS

/** Which of so many shares a bucket belongs to. */
export const shareOf = (bucket: number, shares: number): number => bucket % shares

/** The same in every process and run; 32 bits, not for secrets. */
export function hash(text: string): number {
  let value = 0
  for (let at = 0; at < text.length; at += 1) value = (Math.imul(value, 31) + text.charCodeAt(at)) >>> 0
  return value
}
