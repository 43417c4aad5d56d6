import { isPlainObject } from '@reduxjs/toolkit'
import { QueryStatus } from '@reduxjs/toolkit/query'
import { INSTANCE_STATES } from '../../contract/pageRules'
import { PAGE_ROUTES } from '../../contract/pageRoutes'
import { callRules } from './redaction'
import type { State } from './steps'

/**
 * Words of the console's own, without which no replay is possible. A secret that is one of them is not told by it.
 *
 * @param base the state before anything happened.
 */
export const ownWords = (base: State) =>
  new Set([
    ...Object.keys(callRules),
    ...Object.entries(base).flatMap(([name, part]) => [name, ...(isPlainObject(part) ? Object.keys(part) : [])]),
    ...Object.values(QueryStatus),
    ...INSTANCE_STATES,
    ...PAGE_ROUTES.map((route) => /^\/\w*/.exec(route)?.[0] ?? route),
  ])
