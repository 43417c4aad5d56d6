import { useLayoutEffect } from 'react'
import { recorderOf } from '../actionLog/record/record'
import { useAppStore } from './hooks'

/** Starts recording. The log also gets the actions from before. */
export function useRecorder() {
  const store = useAppStore()
  useLayoutEffect(() => {
    recorderOf(store)
  }, [store])
}
