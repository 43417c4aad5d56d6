import { bucketOf } from './listingTask'

/** Entries as JSON, without the brackets around them and the commas between its pieces. */
export interface Entries {
  /** Divided, one for each bucket of names; some may be empty. */
  json: Uint8Array<ArrayBuffer>[]
  count: number
  /** Whether the kernel tells who watches the directory of every change to these. */
  isTold: boolean
}

const COMMA = Buffer.from(',')

/** In bytes, without the commas between pieces. */
export const bytesOf = ({ json }: Entries): number => json.reduce((sum, { byteLength }) => sum + byteLength, 0)

/** Pieces with commas between them; empty ones are left out. */
export function joined(pieces: Uint8Array<ArrayBuffer>[]): Uint8Array<ArrayBuffer>[] {
  return pieces.filter(({ byteLength }) => byteLength > 0).flatMap((piece, at) => (at > 0 ? [COMMA, piece] : [piece]))
}

/** How many bytes `withChanges` has to look through. */
export function changesCost({ json }: Entries, names: string[]): number {
  return names.reduce((sum, name) => sum + json[bucketOf(name)]!.byteLength, 0)
}

/**
 * Divided entries with those of some names replaced, added or, where there is none any more, left out. Nothing is parsed: of a
 * hundred thousand entries only the pieces that the names are in are looked through and copied.
 * @param now a piece for each of the names, empty where there is none
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
 * What is left of a piece without the entries of these names. Where one begins, and its last field, cannot be within a text of the
 * JSON: there a quotation mark has a backslash before it.
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
