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

export const bytesOf = ({ json }: Entries): number => json.reduce((sum, { byteLength }) => sum + byteLength, 0)

/**
 * Divided entries with those of some names replaced, added or, where there is none any more, left out. Nothing is parsed: of a
 * hundred thousand entries only the pieces that the names are in are copied.
 * @param now a piece for each of the names, empty where there is none
 */
export function withChanges(before: Entries, names: string[], now: Entries): Entries {
  const json = [...before.json]
  let { count } = before
  for (const [at, name] of names.entries()) {
    const bucket = bucketOf(name)
    const entry = now.json[at]!
    const others = without(asBuffer(json[bucket]!), name)
    json[bucket] = joined([...others.parts, entry])
    count += Number(entry.byteLength > 0) - Number(others.had)
  }
  return { json, count, isTold: before.isTold && now.isTold }
}

/**
 * What is before and behind a name's entry. Its beginning and its last field cannot be within a text of the JSON: there a quotation
 * mark has a backslash before it.
 */
function without(piece: Buffer, name: string): { parts: Uint8Array[]; had: boolean } {
  const start = piece.indexOf(`{"name":${JSON.stringify(name)},`)
  if (start === -1) return { parts: [piece], had: false }
  const end = piece.indexOf('}', piece.indexOf('"isText":', start)) + 1
  return { parts: [piece.subarray(0, Math.max(start - 1, 0)), piece.subarray(end + 1)], had: true }
}

function joined(parts: Uint8Array[]): Uint8Array<ArrayBuffer> {
  return Buffer.concat(parts.filter(({ byteLength }) => byteLength > 0).flatMap((part, at) => (at > 0 ? [COMMA, part] : [part])))
}

const asBuffer = ({ buffer, byteOffset, byteLength }: Uint8Array<ArrayBuffer>): Buffer => Buffer.from(buffer, byteOffset, byteLength)
