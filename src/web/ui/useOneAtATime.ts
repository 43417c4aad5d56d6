import { useRef } from 'react'

/** Ignores calls while one is pending, even before the next render: two clicks may come within one frame. */
export function useOneAtATime<Args extends unknown[]>(
  action: (...args: Args) => unknown,
): (...args: Args) => Promise<void> {
  const isPending = useRef(false)
  return async (...args) => {
    if (isPending.current) return
    isPending.current = true
    try {
      await action(...args)
    } finally {
      isPending.current = false
    }
  }
}
