/** Exponential backoff between attempts. In milliseconds. */
const INITIAL_DELAY_MS = 500
const MAX_DELAY_MS = 15_000

/**
 * Loads chunks, and tries again as long as the server cannot be reached. Answers nothing for a chunk that is gone, so that
 * the page that is open stays: its build was replaced, and `onGone` is told.
 */
export function createChunkLoading(onGone: () => void, isGone = isGoneFromServer) {
  return async function load<T>(request: () => Promise<T>): Promise<T> {
    for (let delay = INITIAL_DELAY_MS; ; delay = Math.min(2 * delay, MAX_DELAY_MS)) {
      try {
        return await request()
      } catch (error) {
        // A module that throws while it starts would do so again.
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

/** The browser does not say why a script could not be loaded. */
async function isGoneFromServer(url: string | undefined): Promise<boolean> {
  if (!url) return false
  try {
    return (await fetch(url, { method: 'HEAD', cache: 'no-store' })).status === 404
  } catch {
    return false
  }
}
