import { useEffect } from 'react'
import { useDispatch, useSelector } from 'react-redux'
import { consoleLeft, consoleOpened, instanceRevived, selectEnd } from '../../sockets/consoleSlice'

/** What the page knows of the state is this old at most: two polls. In milliseconds. */
const CERTAIN_MS = 6500

/** Keeps the console of the shown instance open. */
export function useConsole(deployment: string, podName: string | undefined, state: string | undefined) {
  const dispatch = useDispatch()
  const isEnded = useSelector(selectEnd) === 'jarMissing'
  const isUp = state === 'RUNNING' || state === 'STARTING'

  useEffect(() => {
    if (podName) dispatch(consoleOpened({ deployment, podName }))
  }, [deployment, podName, dispatch])

  useEffect(() => () => void dispatch(consoleLeft()), [dispatch])

  // Somebody brought the jar, and somebody started it, here or elsewhere.
  useEffect(() => {
    if (!isEnded || !isUp) return
    const timer = setTimeout(() => dispatch(instanceRevived()), CERTAIN_MS)
    return () => clearTimeout(timer)
  }, [isEnded, isUp, dispatch])
}
