import { isOfSigns } from '../export/encoded'
import { isLikely } from '../export/secrets'
import type { Call } from '../export/typedPlaces'
import { isObject, mapSettings } from '../export/typedPlaces'

type Named = { id: string | number; name?: string; username?: string }
type Action = { type: string; payload?: unknown; meta?: unknown }
type Loose = Record<string, unknown>
type Move = { path: string; targetPath: string }

/** Minimum length of a name that does not look like a secret but is hidden. A shorter one may be a part of any text. */
const LONG = 12
/** Maximum number of names. An export searches all texts for each of them. */
const MOST_NAMES = 2000
/** Maximum number of paths. Each deletion and move goes through all of them. */
const MOST_PATHS = 20_000
/** A name such as `server.properties`, which many directories have. */
const WITH_EXTENSION = /\.[a-z]{1,10}$/
/** A sign that is rare in names. */
const RARE = /[^\p{L}\p{N}\s._,'~#+()[\]-]/u
/** A number of six digits or more, in groups or in digits of any script. */
const GROUPED = /^(?:\p{N}[\s_-]*){6,}$/u
/** With the name of a backup, an export would hide that date everywhere. */
const DATE = /^\d{4}[_-]\d{2}[_-]\d{2}$/
const isUnusual = (name: string) =>
  // Letters and digits may be typed in full width.
  isLikely(name.normalize('NFKC')) ||
  RARE.test(name) ||
  isOfSigns(name) ||
  (GROUPED.test(name) && !DATE.test(name)) ||
  (name.length >= LONG && !WITH_EXTENSION.test(name))

const nameOf = ({ name, username }: Named) => name ?? username ?? ''
const isNamed = (value: unknown): value is Named =>
  isObject(value) && 'id' in value && [value.name, value.username].some((name) => typeof name === 'string')
const namedIn = (response: unknown): Named[] =>
  isNamed(response) ? [response] : isObject(response) ? Object.values(response).flatMap(namedIn) : []

/** Lists of what users name, with ids by which it is deleted. */
const WITH_IDS = /^get(?:ApiKeys|UserKeys|OwnMethods|UserMethods|Users)$/
/** Lists whose names only users remove. Files and instances come and go by themselves. */
const LISTS = /^get(?:Deployments|Databases|Overview)$/

/** Calls whose responses are an item of a list, which may be deleted before the page loads the list again. */
const CREATIONS = /^create(?:ApiKey|Database)$/

/** Returns the key of the list that the response to a call contains, or contains an item of. */
function listOf(endpoint: string, args: unknown): string {
  // Both list the deployments that the user may see.
  if (/^get(?:Deployments|Overview)$/.test(endpoint)) return 'deployments'
  if (endpoint === 'createApiKey') return 'getApiKeys()'
  const of = endpoint === 'createDatabase' && isObject(args) ? args.type : args
  return `${endpoint.replace('createDatabase', 'getDatabases')}(${JSON.stringify(of) ?? ''})`
}

/** Calls whose responses contain paths. */
const OF_FILES = /^(?:getFiles|archiveFiles|unarchiveFile)$/

/** Returns the words of a setting of a definition, or the names in its path. */
const wordsOf = (setting: unknown) => (typeof setting === 'string' ? setting.split(/["'/\s]+/) : [])

/** Returns the names in the response of a list: of its items, or of the deployment of each section of the overview. */
function namesIn(endpoint: string, response: unknown): string[] {
  if (WITH_IDS.test(endpoint) || endpoint === 'createApiKey') return namedIn(response).map(nameOf)
  const items = isObject(response) && 'sections' in response ? response.sections : response
  return [items].flat().flatMap((item) => {
    const named = isObject(item) && 'deployment' in item ? item.deployment : item
    return isObject(named) ? [named.name, named.path, named.dataDirectory, named.node].flatMap(wordsOf) : []
  })
}

/** Returns the names in the settings of a definition that an export may keep. */
function namesInDefinition(content: string): string[] {
  const names: string[] = []
  mapSettings(content, (value) => {
    names.push(...wordsOf(value))
    return value
  })
  return names
}

const isMissing = (failure: unknown) => isObject(failure) && failure.status === 404

/**
 * Whether the server refused a call for something that exists. Otherwise it may have done what the call asked for, and
 * only its response was lost, or another user did it before.
 */
const isRefused = (failure: unknown) =>
  isObject(failure) && typeof failure.status === 'number' && failure.status <= 500 && !isMissing(failure)

/** Returns the arguments of a refused call that the server accepted all the same: entries that are not in `failed`. */
function acceptedOf(args: unknown, { failed }: Loose): unknown {
  if (!Array.isArray(args) || !Array.isArray(failed)) return undefined
  const refused = new Set((failed as { path: string }[]).map(({ path }) => path))
  return (args as { path: string }[]).filter(({ path }) => !refused.has(path))
}

/** Remembers paths, with whose directory a name is deleted. */
function createPaths() {
  /** Paths of unusual names in responses, also after a move. */
  const paths = new Set<string>()
  /** Paths that the user of this page named. Others come and go by themselves. */
  const named = new Set<string>()
  const add = (path: string) => isUnusual(lastOf(path)) && addNewest(paths, path, MOST_PATHS)

  /** Returns the paths inside these directories, each with its directory. */
  function inside(directories: readonly string[]): [path: string, directory: string][] {
    const wanted = new Set(directories)
    return [...paths].flatMap((path) => {
      const directory = parentsOf(path).find((parent) => wanted.has(parent))
      return directory === undefined ? [] : [[path, directory] as [string, string]]
    })
  }

  /** @returns the names at these paths and of all paths inside them */
  const namesAt = (tops: readonly string[]) => [...tops, ...inside(tops).map(([path]) => path)].map(lastOf)

  function note(response: unknown) {
    if (!isObject(response)) return
    if (typeof response.path === 'string') add(response.path)
    Object.values(response).forEach(note)
  }

  return {
    namesAt,
    note,
    named: (path: string) => addNewest(named, path, MOST_PATHS),
    /** @returns the earlier names that the moves changed */
    moved(moves: readonly Move[]): string[] {
      const targets = new Map(moves.map(({ path, targetPath }) => [path, targetPath]))
      for (const [path, directory] of inside([...targets.keys()]))
        add(`${targets.get(directory)}${path.slice(directory.length)}`)
      for (const { path, targetPath } of moves) {
        add(targetPath)
        addNewest(named, targetPath, MOST_PATHS)
        named.delete(path)
      }
      return moves.filter((move) => lastOf(move.path) !== lastOf(move.targetPath)).map(({ path }) => lastOf(path))
    },
    /** @returns the names that the user gave to entries of this directory, if its listing lacks them */
    goneFrom(directory: unknown, listing: unknown): string[] {
      const namedHere = [...named].filter((path) => directoryOf(path) === directory)
      if (namedHere.length === 0) return []
      const { files } = listing as { files?: ({ path: string } | null)[] }
      const listed = new Set(files?.map((file) => file?.path))
      const gone = namedHere.filter((path) => !listed.has(path))
      for (const path of gone) named.delete(path)
      return namesAt(gone)
    },
  }
}

/**
 * Remembers the names of what was deleted or renamed, because earlier responses contain them: what the calls of this
 * page deleted, and what a later response does not contain. An export hides them: a user who typed a secret as a name
 * deletes or renames what has it.
 */
export function createDeletedNames() {
  /** Names by id, of things that are deleted by their id. */
  const namesById = new Map<string, string>()
  const paths = createPaths()
  const deleted = new Set<string>()
  /** The names in the last response of each list and in each definition, by `listOf` and the name of the deployment. */
  const listed = new Map<string, ReadonlySet<string>>()

  const add = (name: string) => isUnusual(name) && addNewest(deleted, name, MOST_NAMES)
  const byId = (id: unknown) => namesById.get(String(id)) ?? ''

  /** Returns the names that a call removed, which the server did not refuse, and remembers those that it gave. */
  function deletedBy(endpoint: string, args: unknown): string[] {
    if (args === undefined) return []
    switch (endpoint) {
      case 'deleteDeployment':
        return [args as string]
      case 'deleteDatabase':
        return [(args as { name: string }).name]
      case 'createFile':
      case 'createDirectory':
        paths.named(args as string)
        return []
      case 'deleteFiles':
        return paths.namesAt((args as { path: string }[]).map(({ path }) => path))
      case 'renameFile':
        return paths.moved([args as Move])
      case 'moveFiles':
        return paths.moved(args as Move[])
      case 'deleteApiKey':
      case 'deleteUser':
        return [byId(args)]
      case 'removeMethod':
      case 'renameMethod':
        return [byId((args as { id: string }).id)]
      case 'deleteUserKey':
        return [byId((args as { of: string }).of)]
      default:
        return []
    }
  }

  /** Returns the names of what the server says is missing. Of several entries, it may be any. */
  function missingIn(args: unknown): string[] {
    if (typeof args === 'string') return paths.namesAt([args])
    if (typeof args === 'number') return [byId(args)]
    if (!isObject(args)) return []
    const entries = Array.isArray(args) ? args : args.items
    if (Array.isArray(entries)) return entries.length === 1 ? missingIn(entries[0]) : []
    // Of a move, its destination may be missing; of a user, their session.
    if ('targetPath' in args || 'of' in args) return []
    const { path, name } = args
    return typeof path === 'string' ? paths.namesAt([path]) : typeof name === 'string' ? [name] : [byId(args.id)]
  }

  /** Remembers the names that the earlier responses with this key contained and this one does not. */
  function compare(key: string, names: ReadonlySet<string>) {
    for (const name of listed.get(key) ?? []) if (!names.has(name)) add(name)
    listed.set(key, names)
  }

  function noteDefinition(name: unknown, holder: unknown) {
    const { content } = (holder ?? {}) as Loose
    if (typeof content === 'string') compare(`definition ${String(name)}`, new Set(namesInDefinition(content)))
  }

  function noteResponse({ endpointName, originalArgs }: Call, response: unknown) {
    const hasIds = WITH_IDS.test(endpointName)
    if (hasIds) for (const named of namedIn(response)) namesById.set(String(named.id), nameOf(named))
    if (OF_FILES.test(endpointName)) paths.note(response)
    if (endpointName === 'getFiles') paths.goneFrom(originalArgs, response).forEach(add)
    const key = listOf(endpointName, originalArgs)
    if (hasIds || LISTS.test(endpointName)) compare(key, new Set(namesIn(endpointName, response)))
    if (CREATIONS.test(endpointName))
      listed.set(key, new Set([...(listed.get(key) ?? []), ...namesIn(endpointName, response)]))
    if (endpointName === 'getDeploymentConfig') noteDefinition(originalArgs, response)
    if (endpointName === 'saveDeploymentConfig') noteDefinition((originalArgs as Loose).name, originalArgs)
  }

  return {
    note({ type, payload, meta }: Action) {
      const { arg } = (meta ?? {}) as { arg?: Call }
      const isAnswered = type.endsWith('/fulfilled')
      if (!arg || !(isAnswered || type.endsWith('/rejected'))) return
      const { endpointName, originalArgs } = arg
      const args = !isAnswered && isRefused(payload) ? acceptedOf(originalArgs, payload as Loose) : originalArgs
      deletedBy(endpointName, args).forEach(add)
      if (isAnswered) noteResponse(arg, payload)
      else if (isMissing(payload)) missingIn(originalArgs).forEach(add)
    },
    list: (): readonly string[] => [...deleted],
  }
}

/** Adds a text to a bounded set. The oldest one makes room for it. */
function addNewest(texts: Set<string>, text: string, most: number): void {
  texts.add(text)
  if (texts.size > most) texts.delete(texts.values().next().value ?? '')
}

/** Returns the directories that a path is in, the innermost first. */
function parentsOf(path: string): string[] {
  const parents: string[] = []
  for (let end = path.lastIndexOf('/'); end > 0; end = path.lastIndexOf('/', end - 1)) parents.push(path.slice(0, end))
  return parents
}

const lastOf = (path: string) => path.slice(path.lastIndexOf('/') + 1)
const directoryOf = (path: string) => path.slice(0, path.lastIndexOf('/'))
