import type { Definition } from '../../contract/deployment'
import type { Runtime } from '../runtime/runtime'

/** What to tell of the limits that a definition asks for and that are not enforced on this machine (decisions §12). */
export function limitWarnings(
  { resources }: Pick<Definition, 'resources'>,
  { enforced, limits }: Pick<Runtime, 'enforced' | 'limits'>,
): string[] {
  const reason = limits.startsWith(NOT_ENFORCED) ? `: ${limits.slice(NOT_ENFORCED.length)}` : `. Limits here: ${limits}`
  const warning = (what: string, limit: string) =>
    `resources.${what} (${limit}) is not enforced on this machine${reason}.`
  return [
    ...(resources?.cpu !== undefined && !enforced.cpu ? [warning('cpu', resources.cpu)] : []),
    ...(resources?.memory !== undefined && !enforced.memory ? [warning('memory', resources.memory)] : []),
  ]
}

/** How a runtime begins to say why it enforces none. */
const NOT_ENFORCED = 'not enforced: '
