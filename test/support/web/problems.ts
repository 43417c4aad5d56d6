import { screen } from '@testing-library/react'
import type { ProblemsState } from '../../../src/web/features/problems/problemsSlice'

/** The entries of the problem log, newest first, as `what: reason`. */
export const problemsIn = (store: { getState: () => { problems?: ProblemsState } }) =>
  (store.getState().problems?.list ?? []).map(({ what, reason }) => `${what}: ${reason}`)

export const bell = () => screen.getByRole('button', { name: /^Problems/ })
