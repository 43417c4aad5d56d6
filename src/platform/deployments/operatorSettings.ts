import { isDeepStrictEqual } from 'node:util'
import type { Definition } from '../../contract/deployment'
import { AppError } from '../errors'

/**
 * The settings through which a deployment reaches what is not its own: directories, other deployments, a machine's
 * capacity and addresses. Only callers who may use every deployment change them.
 */
const OPERATOR_SETTINGS = [
  'dataDirectory',
  'mounts',
  'discover',
  'node',
  'expose',
  'instances',
  'resources',
] as const satisfies (keyof Definition)[]

/**
 * Refuses a change of these settings.
 * @param before undefined if the stored text is not valid: then they cannot be compared
 * @throws AppError NOT_ALLOWED
 */
export function refuseOperatorSettings(before: Definition | undefined, after: Definition): void {
  if (!before)
    throw new AppError('NOT_ALLOWED', 'The stored configuration is not valid. Ask an operator to correct it.')
  const changed = OPERATOR_SETTINGS.find((setting) => !isDeepStrictEqual(before[setting], after[setting]))
  if (changed)
    throw new AppError('NOT_ALLOWED', `Only operators and administrators may change "${changed}".`, { field: changed })
}
