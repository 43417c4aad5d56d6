import { useState } from 'react'
import { useDispatch } from 'react-redux'
import type { AppDispatch, AppThunk } from '../../app/types'

/** A replay's store runs no thunks, and returns an object without the number. */
const draw =
  (): AppThunk<{ number?: number }> =>
  (_dispatch, _getState, { random = Math.random }) => ({
    number: random(),
  })

/**
 * Varies the interval of a poll by up to a tenth, once per page: consoles that waited together for a slow server would
 * otherwise keep calling it together.
 * @param ms the mean in milliseconds; 0 for no polling
 */
export function usePollingInterval(ms: number): number {
  const dispatch: AppDispatch = useDispatch()
  const [{ number = 0.5 }] = useState(() => dispatch(draw()))
  return Math.round(ms * (0.9 + number / 5))
}
