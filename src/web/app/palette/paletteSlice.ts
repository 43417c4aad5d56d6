import type { PayloadAction } from '@reduxjs/toolkit'
import { createSlice } from '@reduxjs/toolkit'
import { sessionEnded } from '../../facts'
import { addAppListeners } from '../appListeners'
import { rootReducer } from '../rootReducer'
import type { AppThunk } from '../types'

/** Number of recent commands that are stored. */
const KEPT = 5
const RECENT_KEY = 'recent-commands'
const SINGLE_KEYS_KEY = 'single-key-shortcuts'

export type PaletteState = {
  shown: 'commands' | 'shortcuts' | null
  /** Ids of commands, most recent first. */
  recent: string[]
  /** Whether shortcuts without Ctrl or Cmd work. They disturb users of speech input (WCAG 2.1.4). */
  singleKeys: boolean
}

const initialState: PaletteState = { shown: null, recent: [], singleKeys: true }

const paletteSlice = createSlice({
  name: 'palette',
  initialState,
  reducers: {
    commandsOpened(state) {
      state.shown = 'commands'
    },
    shortcutsOpened(state) {
      state.shown = 'shortcuts'
    },
    paletteClosed(state) {
      state.shown = null
    },
    commandChosen(state, { payload: id }: PayloadAction<string>) {
      state.shown = null
      state.recent = [id, ...state.recent.filter((other) => other !== id)].slice(0, KEPT)
    },
    singleKeysChosen(state, { payload }: PayloadAction<boolean>) {
      state.singleKeys = payload
    },
    /** The preferences that this browser stored on earlier visits. */
    preferencesRecalled(state, { payload }: PayloadAction<Pick<PaletteState, 'recent' | 'singleKeys'>>) {
      Object.assign(state, payload)
    },
  },
  // The next user of this browser must not see which instances this one used.
  extraReducers: (builder) => builder.addCase(sessionEnded, ({ singleKeys }) => ({ ...initialState, singleKeys })),
  selectors: {
    selectShown: (state) => state.shown,
    selectRecent: (state) => state.recent,
    selectSingleKeys: (state) => state.singleKeys,
  },
})

declare module '../rootReducer' {
  interface LazySlices {
    palette: PaletteState
  }
}

export const { commandsOpened, shortcutsOpened, paletteClosed, commandChosen, singleKeysChosen, preferencesRecalled } =
  paletteSlice.actions
export const { selectShown, selectRecent, selectSingleKeys } = paletteSlice.injectInto(rootReducer).selectors

/** Reads the preferences of this browser once; a replay never dispatches it. */
export const recallPreferences =
  (): AppThunk =>
  (dispatch, _getState, { storage }) => {
    const singleKeys = storage.getItem(SINGLE_KEYS_KEY) !== 'off'
    const recent = parseIds(storage.getItem(RECENT_KEY))
    if (!singleKeys || recent.length > 0) dispatch(preferencesRecalled({ recent, singleKeys }))
  }

function parseIds(text: string | null): string[] {
  try {
    const ids: unknown = JSON.parse(text ?? '[]')
    return Array.isArray(ids) ? ids.filter((id) => typeof id === 'string').slice(0, KEPT) : []
  } catch {
    return []
  }
}

addAppListeners((startListening) => {
  startListening({
    actionCreator: commandChosen,
    effect: (_action, store) => store.extra.storage.setItem(RECENT_KEY, JSON.stringify(selectRecent(store.getState()))),
  })
  startListening({
    actionCreator: singleKeysChosen,
    effect: ({ payload }, { extra }) =>
      payload ? extra.storage.removeItem(SINGLE_KEYS_KEY) : extra.storage.setItem(SINGLE_KEYS_KEY, 'off'),
  })
  startListening({ actionCreator: sessionEnded, effect: (_action, { extra }) => extra.storage.removeItem(RECENT_KEY) })
})
