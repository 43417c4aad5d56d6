import { isAnyOf } from '@reduxjs/toolkit'
import { addAppListeners } from '../../app/appListeners'
import type { Services } from '../../app/services'
import type { AppThunk, RootState } from '../../app/types'
import { sessionEnded } from '../../facts'
import type { Preferences } from './overviewSlice'
import {
  allCollapsed,
  allExpanded,
  filterChosen,
  FILTERS,
  filtersCleared,
  preferencesRecalled,
  sectionToggled,
  selectCollapsed,
  selectFilter,
  selectView,
  viewChosen,
  VIEWS,
} from './overviewSlice'

const KEY = 'overview'

/** Dispatched by the page when it opens. */
export const recallPreferences =
  (): AppThunk =>
  (dispatch, _getState, { storage }) => {
    const stored = readPreferences(storage)
    if (stored) dispatch(preferencesRecalled(stored))
  }

addAppListeners((startListening) => {
  startListening({
    matcher: isAnyOf(viewChosen, filterChosen, filtersCleared, sectionToggled, allCollapsed, allExpanded),
    effect: (_action, listener) => keepPreferences(listener.extra.storage, listener.getState()),
  })

  startListening({
    actionCreator: sessionEnded,
    effect({ payload: reason }, listener) {
      // Names that one user sees must not reach the next. After an expired session they stay for the next sign-in.
      if (reason !== 'signedOut') return
      // The state has the stored preferences only once the overview was opened.
      const { storage } = listener.extra
      const stored = readPreferences(storage)
      if (stored) storage.setItem(KEY, JSON.stringify({ ...stored, collapsed: [] }))
    },
  })
})

function keepPreferences(storage: Services['storage'], state: RootState) {
  const preferences: Preferences = {
    view: selectView(state),
    filter: selectFilter(state),
    collapsed: selectCollapsed(state),
  }
  storage.setItem(KEY, JSON.stringify(preferences))
}

/** Ignores preferences in another version's format. */
function readPreferences(storage: Services['storage']): Preferences | undefined {
  try {
    const { view, filter, collapsed } = JSON.parse(storage.getItem(KEY) ?? 'null') as Record<string, unknown>
    return {
      view: VIEWS.find((known) => known === view) ?? null,
      filter: FILTERS.find((known) => known === filter) ?? 'all',
      collapsed: Array.isArray(collapsed) ? collapsed.filter((name) => typeof name === 'string') : [],
    }
  } catch {
    return undefined
  }
}
