import { useEffect } from 'react'
import { usePaneDispatch, usePaneSelector } from './pane'
import { consoleLeft, consoleOpened, instanceRevived, selectEnd } from '../../../sockets/consoleSlice'

/** Two polls, after which the polled state is newer than the end of the console. */
const SETTLE_MS = 6500

/** Opens the console of the shown instance, and closes it on unmount. */
export function useConsole(deployment: string, podName: string | undefined, state: string | undefined) {
  const dispatch = usePaneDispatch()
  const isEnded = usePaneSelector(selectEnd) === 'jarMissing'
  const isUp = state === 'RUNNING' || state === 'STARTING'

  useEffect(() => {
    if (podName) dispatch(consoleOpened({ deployment, podName }))
  }, [deployment, podName, dispatch])

  useEffect(() => () => void dispatch(consoleLeft()), [dispatch])

  // Reopens the console after the jar was added and the instance was started again.
  useEffect(() => {
    if (!isEnded || !isUp) return
    const timer = setTimeout(() => dispatch(instanceRevived()), SETTLE_MS)
    return () => clearTimeout(timer)
  }, [isEnded, isUp, dispatch])
}
