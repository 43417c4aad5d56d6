/**
 * Has callers share the reading of something costly: whoever calls while one is under way gets the result of the next one, because the
 * first may miss what they have written. So at most one is under way, however many call.
 * @returns a function that resolves with the result of a reading that began after its call; it throws what that throws.
 */
export function createSharedRead<Result>(read: () => Promise<Result>): () => Promise<Result> {
  let underWay: Promise<unknown> = Promise.resolve()
  let next: Promise<Result> | undefined
  return () => {
    next ??= underWay.then(() => {
      next = undefined
      const begun = read()
      underWay = begun.catch(() => undefined)
      return begun
    })
    return next
  }
}
