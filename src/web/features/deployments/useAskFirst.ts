import { useDispatch } from 'react-redux'
import type { InstanceCounts } from '../../api/deployments'
import { interruptionAsked } from './deploymentsSlice'

/** Asks first if instances would be interrupted, else acts at once. */
export function useAskFirst(name: string, counts: InstanceCounts | undefined) {
  const dispatch = useDispatch()
  return (change: 'restart' | 'disable', act: () => unknown) => {
    if (counts && counts.active > 0) dispatch(interruptionAsked({ name, change }))
    else void act()
  }
}
