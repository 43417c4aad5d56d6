import { isRandom } from '../export/settingSecrets'
import type { Call } from '../export/typedPlaces'
import { isObject } from '../export/typedPlaces'

type Named = { id: string; name: string }
type Action = { type: string; payload?: unknown; meta?: unknown }

/** Minimum length of a name that does not look random but is hidden. A shorter one may be a part of any text. */
const LONG = 12
/** A name such as `server.properties`, which many directories have. */
const WITH_EXTENSION = /\.[a-z]{1,10}$/
const isUnusual = (name: string) => isRandom(name) || (name.length >= LONG && !WITH_EXTENSION.test(name))

const isNamed = (value: unknown): value is Named =>
  isObject(value) && typeof value.id === 'string' && typeof value.name === 'string'
const namedIn = (answer: unknown): Named[] =>
  isNamed(answer) ? [answer] : isObject(answer) ? Object.values(answer).flatMap(namedIn) : []

/** Lists whose names only users remove. Files and instances come and go by themselves. */
const LISTS = /^get(?:Deployments|Databases|Overview)$/

/** Returns the names in the response of a list: of its items, or of the deployment of each section of the overview. */
function namesIn(answer: unknown): string[] {
  const items = isObject(answer) && 'sections' in answer ? answer.sections : answer
  return [items].flat().flatMap((item) => {
    const named = isObject(item) && 'deployment' in item ? item.deployment : item
    return isObject(named) && typeof named.name === 'string' ? [named.name] : []
  })
}

/**
 * Remembers the names of what was deleted or renamed, because earlier responses contain them: what the calls of this
 * page deleted, and what a later response of a list does not contain. An export hides them: a user who typed a secret
 * as a name deletes or renames what has it.
 */
export function createDeletedNames() {
  /** Names by id, of things that are deleted by their id. */
  const namesById = new Map<string, string>()
  /** Paths that were created. Each is deleted with its directory. */
  const created = new Set<string>()
  const deleted = new Set<string>()
  /** The names in the last response of each list, by its key in the cache. */
  const listed = new Map<string, ReadonlySet<string>>()

  const add = (name: string) => isUnusual(name) && deleted.add(name)
  const namesOf = (path: string) => [path, ...[...created].filter((other) => other.startsWith(`${path}/`))].map(lastOf)

  function deletedBy(endpoint: string, args: unknown): string[] {
    switch (endpoint) {
      case 'deleteDeployment':
        return [args as string]
      case 'deleteDatabase':
        return [(args as { name: string }).name]
      case 'deleteFiles':
        return (args as { path: string }[]).flatMap(({ path }) => namesOf(path))
      case 'renameFile':
        return [lastOf((args as { path: string }).path)]
      case 'deleteApiKey':
        return [namesById.get(args as string) ?? '']
      case 'removeMethod':
      case 'renameMethod':
        return [namesById.get((args as { id: string }).id) ?? '']
      case 'deleteUserKey':
        return [namesById.get((args as { of: string }).of) ?? '']
      default:
        return []
    }
  }

  return {
    note({ type, payload, meta }: Action) {
      const { arg } = (meta ?? {}) as { arg?: Call }
      if (!arg || !type.endsWith('/fulfilled')) return
      const { endpointName, originalArgs } = arg
      if (/^(?:getApiKeys|getUserKeys|getOwnMethods)$/.test(endpointName))
        for (const { id, name } of namedIn(payload)) namesById.set(id, name)
      if (/^create(?:File|Directory)$/.test(endpointName)) created.add(originalArgs as string)
      deletedBy(endpointName, originalArgs).forEach(add)
      if (!LISTS.test(endpointName)) return
      const key = arg.queryCacheKey ?? endpointName
      const names = new Set(namesIn(payload))
      for (const name of listed.get(key) ?? []) if (!names.has(name)) add(name)
      listed.set(key, names)
    },
    list: (): readonly string[] => [...deleted],
  }
}

const lastOf = (path: string) => path.slice(path.lastIndexOf('/') + 1)
