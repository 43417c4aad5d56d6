import { addAppListeners } from '../../app/appListeners'
import type { AppThunk } from '../../app/types'
import type { Guide } from './deploymentsSlice'
import { sessionEnded } from '../../facts'
import { guideLoaded, selectGuide } from './deploymentsSlice'

const KEY = 'deployment-guide'

/** The steps after a creation survive a reload, and end with the session. */
addAppListeners((startListening) => {
  startListening({
    predicate: (_action, current, previous) => selectGuide(current) !== selectGuide(previous),
    effect(_action, store) {
      const { storage } = store.extra
      const guide = selectGuide(store.getState())
      if (guide) storage.setItem(KEY, JSON.stringify(guide))
      else storage.removeItem(KEY)
    },
  })

  // After a reload the state has the steps only once their page was opened.
  startListening({ actionCreator: sessionEnded, effect: (_action, { extra }) => extra.storage.removeItem(KEY) })
})

/** Loads the steps that were stored before a reload. */
export const guideOpened =
  (): AppThunk =>
  (dispatch, getState, { storage }) => {
    if (selectGuide(getState())) return
    try {
      const kept = JSON.parse(storage.getItem(KEY) ?? 'null') as Partial<Guide> | null
      if (typeof kept?.name === 'string')
        dispatch(guideLoaded({ name: kept.name, isConfigured: kept.isConfigured === true }))
    } catch {
      storage.removeItem(KEY)
    }
  }
