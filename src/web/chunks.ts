import type { ComponentType } from 'react'
import { lazy } from 'react'

type Load<T> = () => Promise<T>

const early = new Set<Load<unknown>>()

/** Until a page after sign-in brings its own way: again and again, but for a chunk that is gone, which only a reload helps. */
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

/** What comes after sign-in knows what to do when a chunk cannot be had (app/retryChunks.ts). */
export const loadChunksBy = (next: typeof attempt) => {
  attempt = next
}

export const loadChunk = <T>(load: Load<T>) => attempt(load)

/** For what is too large to be loaded before somebody asks for it. */
export const lazyOnDemand = <Props>(load: Load<ComponentType<Props>>) =>
  lazy(async () => ({ default: await attempt(load) }))

/** A component of a chunk that is loaded soon after sign-in, because later the platform may be away. */
export const lazyEarly = <Props>(
  load: Load<ComponentType<Props>>,
  follow = (loading: Load<ComponentType<Props>>) => loading(),
) => {
  early.add(load)
  return lazy(async () => ({ default: await follow(() => attempt(load)) }))
}

/** One after the other. What a chunk declares itself comes after it. */
export async function loadEarly() {
  for (const load of early) await attempt(load)
}
