import type { PayloadAction } from '@reduxjs/toolkit'
import { createSlice } from '@reduxjs/toolkit'

export const THEMES = ['light', 'dark', 'auto'] as const
export type Theme = (typeof THEMES)[number]

/** Also read by public/theme.js, which sets the theme before the first paint. */
export const THEME_KEY = 'theme'

export const themeSlice = createSlice({
  name: 'theme',
  initialState: 'auto',
  reducers: { themeChosen: (_state, { payload }: PayloadAction<Theme>) => payload },
  selectors: { selectTheme: (state) => state },
})

export const { themeChosen } = themeSlice.actions
export const { selectTheme } = themeSlice.selectors
