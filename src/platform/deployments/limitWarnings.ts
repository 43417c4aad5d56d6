import type { Definition } from '../../contract/deployment'
import type { Runtime } from '../runtime/runtime'

/** Warnings about the limits of a definition that this machine does not enforce (decisions §12). */
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

/** The prefix of `Runtime.limits` when it enforces none; the reason follows. */
const NOT_ENFORCED = 'not enforced: '
