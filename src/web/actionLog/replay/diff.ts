/**
 * A difference between two values at a path, such as `api.queries.getNodes(undefined).data.0`. A missing value is
 * undefined.
 */
export type Difference = { path: string; before: unknown; after: unknown }

/** Returns the first `limit` differences, ordered by key. */
export function differences(before: unknown, after: unknown, limit = 50): Difference[] {
  const found: Difference[] = []
  const compare = (one: unknown, other: unknown, path: string) => {
    if (found.length >= limit || Object.is(one, other)) return
    if (!isComposite(one) || !isComposite(other) || Array.isArray(one) !== Array.isArray(other)) {
      if (JSON.stringify(one) !== JSON.stringify(other)) found.push({ path, before: one, after: other })
      return
    }
    for (const key of new Set([...Object.keys(one), ...Object.keys(other)])) {
      compare(one[key], other[key], path === '' ? key : `${path}.${key}`)
    }
  }
  compare(before, after, '')
  return found
}

const isComposite = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null

/** Returns the value as one line of at most `length` characters. */
export function shortText(value: unknown, length = 120): string {
  const text = value === undefined ? 'nothing' : JSON.stringify(value)
  return text.length > length ? `${text.slice(0, length)}…` : text
}
