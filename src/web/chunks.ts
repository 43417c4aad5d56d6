import type { ComponentType } from 'react'
import { lazy } from 'react'

type Load<T> = () => Promise<T>

const early = new Set<Load<unknown>>()

/** Used before sign-in: retries unless the chunk is gone, which only a reload fixes. */
let attempt = async <T>(load: Load<T>): Promise<T> => {
  for (;;) {
    try {
      return await load()
    } catch (error) {
      const { name, request } = error as { name: string; request: string }
      if (name !== 'ChunkLoadError' || (await fetch(request).catch(() => undefined))?.status === 404) throw error
    }
    await new Promise((resolve) => setTimeout(resolve, 2000))
  }
}

/** Sets the loader of the pages after sign-in, which also reports a replaced build (app/retryChunks.ts). */
export const loadChunksBy = (next: typeof attempt) => {
  attempt = next
}

export const loadChunk = <T>(load: Load<T>) => attempt(load)

/** For chunks too large to preload. */
export const lazyOnDemand = <Props>(load: Load<ComponentType<Props>>) =>
  lazy(async () => ({ default: await attempt(load) }))

/** For chunks that are preloaded after sign-in, because the platform may be down later. */
export const lazyEarly = <Props>(
  load: Load<ComponentType<Props>>,
  wrapLoad = (loading: Load<ComponentType<Props>>) => loading(),
) => {
  early.add(load)
  return lazy(async () => ({ default: await wrapLoad(() => attempt(load)) }))
}

/** Preloads chunks one after the other, including those that loaded chunks declare. */
export async function loadEarly() {
  for (const load of early) await attempt(load)
}

let resolveShown: () => void

/**
 * Resolves when the first page after sign-in shows its data. The real-time connection and the chunks of other pages
 * wait for it.
 */
export const firstView = new Promise<void>((resolve) => {
  resolveShown = resolve
})

export const firstViewShown = () => resolveShown()
