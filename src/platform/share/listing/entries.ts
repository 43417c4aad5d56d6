import { bucketOf } from './listingTask'

/** Directory entries as serialized JSON, without the enclosing brackets and without commas between the buckets. */
export interface Entries {
  /** One piece per hash bucket of names; may be empty. */
  json: Uint8Array<ArrayBuffer>[]
  count: number
  /** Whether inotify on the directory reports every change of these entries. */
  isTold: boolean
}

const COMMA = Buffer.from(',')

/** Total size in bytes, without the commas between buckets. */
export const bytesOf = ({ json }: Entries): number => json.reduce((sum, { byteLength }) => sum + byteLength, 0)

/** Inserts commas between pieces and drops empty ones. */
export function joined(pieces: Uint8Array<ArrayBuffer>[]): Uint8Array<ArrayBuffer>[] {
  return pieces.filter(({ byteLength }) => byteLength > 0).flatMap((piece, at) => (at > 0 ? [COMMA, piece] : [piece]))
}

/** Number of bytes that `withChanges` has to scan. */
export function changesCost({ json }: Entries, names: string[]): number {
  return names.reduce((sum, name) => sum + json[bucketOf(name)]!.byteLength, 0)
}

/**
 * Returns the entries with those of the given names replaced, added or removed. Nothing is parsed: only the buckets of
 * these names are scanned and copied, even with a hundred thousand entries.
 * @param now one piece per name, empty where the entry is gone
 */
export function withChanges(before: Entries, names: string[], now: Entries): Entries {
  const json = [...before.json]
  let { count } = before
  const changes = new Map<number, number[]>()
  for (const [at, name] of names.entries()) changes.set(bucketOf(name), [...(changes.get(bucketOf(name)) ?? []), at])
  for (const [bucket, changed] of changes) {
    const { pieces, found } = without(
      asBuffer(json[bucket]!),
      changed.map((at) => names[at]!),
    )
    const entries = changed.map((at) => now.json[at]!)
    json[bucket] = Buffer.concat(joined([...pieces, ...entries]))
    count += entries.filter(({ byteLength }) => byteLength > 0).length - found
  }
  return { json, count, isTold: before.isTold && now.isTold }
}

/**
 * Cuts the entries of these names out of a bucket. The searched beginning and last field of an entry cannot occur
 * inside a JSON string, where a quotation mark is escaped.
 */
function without(piece: Buffer<ArrayBuffer>, names: string[]): { pieces: Buffer<ArrayBuffer>[]; found: number } {
  const starts = names.map((name) => piece.indexOf(`{"name":${JSON.stringify(name)},`)).filter((start) => start !== -1)
  starts.sort((one, other) => one - other)
  let from = 0
  const pieces = starts.map((start) => {
    const kept = piece.subarray(from, Math.max(start - 1, from))
    from = piece.indexOf('}', piece.indexOf('"isText":', start)) + 2
    return kept
  })
  return { pieces: [...pieces, piece.subarray(from)], found: starts.length }
}

const asBuffer = ({ buffer, byteOffset, byteLength }: Uint8Array<ArrayBuffer>): Buffer<ArrayBuffer> =>
  Buffer.from(buffer, byteOffset, byteLength)
