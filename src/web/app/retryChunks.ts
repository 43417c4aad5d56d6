/** Exponential back-off between attempts. */
const INITIAL_DELAY_MS = 500
const MAX_DELAY_MS = 15_000

/**
 * Returns a loader for chunks that retries while the server cannot be reached. If the server no longer has the chunk,
 * its build was replaced: `onGone` is called and the promise never settles, so that the open page stays.
 */
export function createChunkLoader(onGone: () => void, isGone = isGoneFromServer) {
  return async function load<T>(request: () => Promise<T>): Promise<T> {
    for (let delay = INITIAL_DELAY_MS; ; delay = Math.min(2 * delay, MAX_DELAY_MS)) {
      try {
        return await request()
      } catch (error) {
        // A module that throws while it is evaluated would throw again.
        if ((error as Error).name !== 'ChunkLoadError') throw error
        if (await isGone((error as { request?: string }).request)) {
          onGone()
          return new Promise<never>(() => {})
        }
      }
      await new Promise((resolve) => setTimeout(resolve, delay))
    }
  }
}

/** The browser does not report why a script failed to load. */
async function isGoneFromServer(url: string | undefined): Promise<boolean> {
  if (!url) return false
  try {
    return (await fetch(url, { method: 'HEAD', cache: 'no-store' })).status === 404
  } catch {
    return false
  }
}
