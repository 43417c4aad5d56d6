import { useLayoutEffect } from 'react'
import { useStore } from 'react-redux'
import { recorderOf } from '../actionLog/record/record'
import type { AppStore } from './types'

/** Starts recording. The log also gets the actions from before. */
export function useRecorder() {
  const store = useStore() as AppStore
  useLayoutEffect(() => {
    recorderOf(store)
  }, [store])
}
