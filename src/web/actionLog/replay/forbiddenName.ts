/** Reducers use texts as keys, and with this one they would change the prototype of all objects. */
export const FORBIDDEN_NAME = '__proto__'

/** Whether a key or a text of the value is the forbidden name. */
export function hasForbiddenName(value: unknown): boolean {
  const left = [value]
  while (left.length > 0) {
    const one = left.pop()
    if (one === FORBIDDEN_NAME) return true
    if (typeof one !== 'object' || one === null) continue
    if (Object.hasOwn(one, FORBIDDEN_NAME)) return true
    for (const inner of Object.values(one)) left.push(inner)
  }
  return false
}

/**
 * Returns a copy of a JSON value in which texts that are the forbidden name are in parentheses. A file, for example,
 * may have this name.
 */
export const withoutForbiddenName = <Value>(value: Value): Value =>
  JSON.parse(
    JSON.stringify(value, (_key, inner: unknown) => (inner === FORBIDDEN_NAME ? `(${FORBIDDEN_NAME})` : inner)),
  ) as Value
