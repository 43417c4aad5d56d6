import { useLayoutEffect } from 'react'
import { useDispatch, useSelector } from 'react-redux'
import { useNavigate, useSearchParams } from 'react-router-dom'
import type { Right } from '../../../../contract/access'
import type { Instance } from '../../../../contract/instance'
import { consolesAddress, MAX_CONSOLES } from '../../../addresses'
import type { Overview } from '../../../api/network'
import { useAppStore } from '../../../app/hooks'
import { missingRight, useAccess } from '../../../api/useAccess'
import type { ShownPane } from './consolesSlice'
import { consolesLeft, panesShown, selectPanes } from './consolesSlice'

/** `instance` is undefined while it is loading, or if `problem` says why it cannot be shown. */
export type ShownConsole = ShownPane & { instance?: Instance; problem?: string }

/** The consoles of the address, with the instances that the user may see. */
export function useShownConsoles(overview: Overview | undefined): ShownConsole[] {
  const [parameters] = useSearchParams()
  const asked = uidsOf(parameters).join('\n')
  const panes = useSelector(selectPanes)
  const { may } = useAccess()
  const dispatch = useDispatch()

  // Layout effects run before the first paint.
  useLayoutEffect(() => void dispatch(panesShown(asked === '' ? [] : asked.split('\n'))), [asked, dispatch])
  useLayoutEffect(() => () => void dispatch(consolesLeft()), [dispatch])

  const instances = overview?.sections.flatMap((section) => section.instances)
  const isPartial = overview?.sections.some(({ failure }) => failure)
  return panes.map((shown) => {
    const instance = instances?.find(({ uid }) => uid === shown.uid)
    if (instance && may(READING, instance.deployment)) return { ...shown, instance }
    const problem = instance ? `${missingRight(READING)}. An administrator can give it to you.` : MISSING
    if (!instances || (!instance && isPartial)) return shown
    return { ...shown, problem }
  })
}

const READING: Right = 'console'
const MISSING = 'This instance does not exist any more, or you may not see its deployment.'

/** Changes which consoles are shown. They are in the address, so that it can be bookmarked. */
export function useShowConsoles() {
  const navigate = useNavigate()
  const store = useAppStore()
  return (change: (uids: readonly string[]) => readonly string[]) => {
    // Reads the store: the rendered consoles follow in a transition, so a second change would undo the first.
    const uids = change(selectPanes(store.getState()).map(({ uid }) => uid))
    store.dispatch(panesShown([...uids]))
    void navigate(consolesAddress(uids), { replace: true })
  }
}

const uidsOf = (parameters: URLSearchParams) =>
  [...new Set(parameters.getAll('instances').filter((uid) => uid !== ''))].slice(0, MAX_CONSOLES)
