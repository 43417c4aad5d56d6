import { withoutForbiddenName } from '../replay/forbiddenName'
import { hashOf } from '../replay/hash'
import { checksumOf } from '../replay/checksum'
import type { Recording, RootReducer } from '../replay/steps'
import { complete, takeStep } from '../replay/steps'
import type { ActionLog, LoggedAction } from '../../../contract/actionLog'

type About = Pick<ActionLog, 'build' | 'exportedAt' | 'viewport' | 'route'>

/**
 * Returns the content of a log file. Its final state and hashes are computed by applying the redacted actions to the
 * redacted base state, as a replay does.
 */
export function writeLog({ startedAt, base, actions }: Recording, about: About, reducer: RootReducer): ActionLog {
  const plainBase = withoutForbiddenName(base)
  let state = complete(reducer, plainBase)
  const logged = withoutForbiddenName(actions).map((action): LoggedAction => {
    const step = takeStep(reducer, state, action)
    state = step.state
    return { ...action, changed: step.changed }
  })
  // Not the address of the page, which may contain texts that are masked in the state.
  const route = typeof state.route === 'string' ? state.route : about.route
  const log: ActionLog = {
    format: 'quarterdeck-action-log',
    version: 1,
    ...about,
    route,
    startedAt,
    base: plainBase,
    actions: logged,
    final: state,
    hash: hashOf(state),
  }
  return { ...log, sum: checksumOf(log) }
}
