import type { ComponentType } from 'react'
import { useLayoutEffect } from 'react'
import { useSelector, useStore } from 'react-redux'
import type { LateState, Part } from './part'
import type { AppStore, RootState } from '../types'

/** Wraps a page so that its part is added to the store before it renders. */
export function withPart<Name extends keyof LateState>(part: Part<Name>, Page: ComponentType): ComponentType {
  const names = Object.keys(part.reducers) as Name[]
  return function PageWithPart() {
    const store = useStore() as AppStore
    const isAdded = useSelector((state: RootState) => names.every((name) => state[name] !== undefined))
    useLayoutEffect(() => store.addPart(part), [store])
    return isAdded && <Page />
  }
}
