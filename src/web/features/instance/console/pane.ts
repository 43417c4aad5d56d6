import type { Action } from '@reduxjs/toolkit'
import { createContext, useCallback, useContext } from 'react'
import { useAppDispatch, useAppSelector } from '../../../app/hooks'
import type { RootState } from '../../../app/types'
import type { Pane } from '../../../sockets/panes'
import { inPane } from '../../../sockets/panes'

/** The pane that the components below belong to; undefined on the instance page. */
export const PaneContext = createContext<Pane | undefined>(undefined)

/** Applies a selector to the console that the component belongs to. */
export function usePaneSelector<Value>(select: (state: RootState, pane?: Pane) => Value): Value {
  const pane = useContext(PaneContext)
  return useAppSelector((state) => select(state, pane))
}

/** Returns a function that dispatches an action about the console that the component belongs to. */
export function usePaneDispatch(): (action: Action) => void {
  const pane = useContext(PaneContext)
  const dispatch = useAppDispatch()
  return useCallback((action) => void dispatch(inPane(action, pane)), [dispatch, pane])
}
