import { isPlainObject } from '@reduxjs/toolkit'
import { QueryStatus } from '@reduxjs/toolkit/query'
import { INSTANCE_STATES } from '../../../contract/pageRules'
import { PAGE_ROUTES } from '../../../contract/pageRoutes'
import { callRules } from '../redact/redaction'
import type { State } from '../replay/steps'

/**
 * Returns the console's own words, which a replay needs. They are never hidden. Every log contains them, so a log does
 * not reveal whether one of them is also a secret.
 *
 * @param base the initial state.
 */
export const ownWords = (base: State) =>
  new Set([
    ...Object.keys(callRules),
    ...Object.entries(base).flatMap(([name, part]) => [name, ...(isPlainObject(part) ? Object.keys(part) : [])]),
    ...Object.values(QueryStatus),
    ...INSTANCE_STATES,
    ...PAGE_ROUTES.map((route) => /^\/\w*/.exec(route)?.[0] ?? route),
  ])
