import { useLayoutEffect } from 'react'
import { useSelector, useStore } from 'react-redux'
import { InstancePage } from '../features/instance/InstancePage'
import { addConsole } from './addConsole'
import type { AppStore, RootState } from './types'

/** The page comes with its part of the store. */
export function InstanceRoute() {
  const store = useStore() as AppStore
  const isAdded = useSelector((state: RootState) => state.console !== undefined)
  useLayoutEffect(() => addConsole(store), [store])
  return isAdded && <InstancePage />
}
