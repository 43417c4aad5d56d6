import { useLayoutEffect } from 'react'
import { recorderOf } from '../actionLog/record/record'
import { useAppStore } from './hooks'

/** Starts recording. The log also includes earlier actions. */
export function useRecorder() {
  const store = useAppStore()
  useLayoutEffect(() => {
    recorderOf(store)
  }, [store])
}
