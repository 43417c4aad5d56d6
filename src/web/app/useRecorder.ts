import { useLayoutEffect } from 'react'
import { useStore } from 'react-redux'
import { recorderOf } from '../actionLog/record'
import type { AppStore } from './types'

/** From here on whatever happens is in the action log, and so is what happened before. */
export function useRecorder() {
  const store = useStore() as AppStore
  useLayoutEffect(() => {
    recorderOf(store)
  }, [store])
}
