import { useRef } from 'react'

/** Does nothing while it is under way. Unlike `busy`, this is known before the next drawing: two clicks may come within one frame. */
export function useOneAtATime<Args extends unknown[]>(
  action: (...args: Args) => unknown,
): (...args: Args) => Promise<void> {
  const isUnderWay = useRef(false)
  return async (...args) => {
    if (isUnderWay.current) return
    isUnderWay.current = true
    try {
      await action(...args)
    } finally {
      isUnderWay.current = false
    }
  }
}
