import type { Services } from './services'

/** Returns localStorage, or a replacement in memory if the browser denies access. */
export function openStorage(): Services['storage'] {
  try {
    window.localStorage.setItem('probe', '')
    window.localStorage.removeItem('probe')
    return window.localStorage
  } catch {
    const kept = new Map<string, string>()
    return {
      getItem: (key) => kept.get(key) ?? null,
      setItem: (key, value) => void kept.set(key, value),
      removeItem: (key) => void kept.delete(key),
    }
  }
}
