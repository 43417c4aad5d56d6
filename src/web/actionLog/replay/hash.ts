// Read once, because jest makes each access to a global slow.
const { imul } = Math

/** What a value costs besides its characters, compared with the digest of one. */
const COST_OF_VALUE = 100

/** The work of all hashes so far. Cached ones cost nothing. */
let cost = 0
export const costOfHashes = () => cost

/** Cached hashes by object. States and actions are immutable, so a hash stays valid. */
const known = new WeakMap<object, string>()

/**
 * Returns a hash that is equal for equal values, regardless of the order of their keys. A key whose value is undefined
 * counts as absent, as in JSON. The hash detects accidental changes, not forgeries.
 */
export function hashOf(value: unknown): string {
  if (typeof value !== 'object' || value === null) return digest(JSON.stringify(value) ?? 'undefined')
  const found = known.get(value)
  if (found) return found
  const text = Array.isArray(value)
    ? `[${value.map(hashOf).join()}]`
    : `{${Object.entries(value)
        .filter(([, inner]) => inner !== undefined)
        .sort(([one], [other]) => (one < other ? -1 : 1))
        .map(([key, inner]) => `${JSON.stringify(key)}:${hashOf(inner)}`)
        .join()}}`
  const hash = digest(text)
  known.set(value, hash)
  return hash
}

/** The cyrb53 hash as 16 hexadecimal digits. */
function digest(text: string): string {
  cost += COST_OF_VALUE + text.length
  let high = 0xdeadbeef
  let low = 0x41c6ce57
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    high = imul(high ^ code, 2654435761)
    low = imul(low ^ code, 1597334677)
  }
  high = imul(high ^ (high >>> 16), 2246822507) ^ imul(low ^ (low >>> 13), 3266489909)
  low = imul(low ^ (low >>> 16), 2246822507) ^ imul(high ^ (high >>> 13), 3266489909)
  return (low >>> 0).toString(16).padStart(8, '0') + (high >>> 0).toString(16).padStart(8, '0')
}
