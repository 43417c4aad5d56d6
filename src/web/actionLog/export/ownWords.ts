import { isPlainObject } from '@reduxjs/toolkit'
import { QueryStatus } from '@reduxjs/toolkit/query'
import { INSTANCE_STATES } from '../../../contract/pageRules'
import { PAGE_ROUTES } from '../../../contract/pageRoutes'
import { callRules } from '../redact/redaction'
import type { State } from '../replay/steps'

/**
 * Returns words of the console that a replay depends on. They are never hidden: a log that contains them does not
 * reveal that a secret is one of them.
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
