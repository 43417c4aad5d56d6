import { changeTexts } from './hide'
import { COMMAND_MARK } from '../../sockets/lineBuffer'
import { PANES } from '../../sockets/panes'
import type { PlainAction } from '../redact/redactAction'
import { callRules } from '../redact/redaction'

/**
 * Describes where a value contains typed text: a `text`, the `address` of a page, a `definition`, a `command`, the
 * `subject` of a draft, console lines with the `echo` of commands, an object whose keys are names (`byName`), or an
 * object or a list of objects with such fields (`*`: any field). Fields that are not listed contain no typed text.
 */
export type Typed = Kind | 'echo' | 'byName' | { [field: string]: Typed }

/** The rights of a user. A deployment that they name may be deleted. */
const ACCESS: Typed = { grants: { deployment: 'text' } }

/** The typed texts in payloads, by type of action. */
export const typedPayloads: Record<string, Typed> = {
  'route/changed': 'address',
  'session/signInRequired': 'address',
  'admin/dialogOpened': { message: 'text', access: ACCESS },
  'admin/inviteMessageTyped': 'text',
  'admin/inviteAccessChosen': ACCESS,
  'admin/accessChosen': { access: ACCESS, saved: ACCESS },
  'admin/usersSearched': 'text',
  'admin/activityFiltered': { search: 'text' },
  'keys/creationEdited': { name: 'text', date: 'text', deployments: 'text' },
  'files/directoryOpened': 'text',
  'files/filterTyped': 'text',
  'files/creationEdited': { name: 'text' },
  'files/destinationTyped': 'text',
  'files/newNameTyped': 'text',
  'files/fileOpened': { path: 'text', name: 'text' },
  'files/leaveAsked': { to: 'address' },
  // The directory that the page shows, from its address.
  'uploads/filesChosen': { files: { directory: 'text' }, directories: 'text' },
  'databases/nameTyped': 'text',
  'databases/filtered': 'text',
  // From the storage of the browser: the deployment may be deleted since.
  'overview/preferencesRecalled': { collapsed: 'text' },
  'overview/searched': 'text',
  'deployments/filtered': 'text',
  // From the storage of the browser.
  'deployments/guideLoaded': { name: 'text' },
  'deployments/creationEdited': { name: 'text' },
  'configuration/draftTyped': { name: 'text', text: 'definition' },
  'configuration/draftRestored': { name: 'text', text: 'definition' },
  'configuration/draftSaved': { name: 'text', text: 'definition' },
  'configuration/draftDropped': 'text',
  'configuration/leaveAsked': { to: 'address' },
  'drafts/offersChanged': { name: 'subject' },
  'instance/searched': 'text',
  'instance/commandsRecalled': 'command',
  'console/commandSubmitted': 'command',
  // From the address of the page, which the user may have typed.
  'consoles/panesShown': 'text',
  'consoles/pickerSearched': 'text',
}

const INSTANCE: Typed = { query: 'text', commands: 'command' }
const CONSOLE: Typed = { submitted: 'command', buffer: { blocks: 'echo' } }
const inEachPane = (typed: Typed): Typed => Object.fromEntries(PANES.map((pane) => [pane, typed]))

/** The typed texts in the state, by slice. */
export const typedState: Record<string, Typed> = {
  route: 'address',
  session: { origin: 'address' },
  admin: {
    userSearch: 'text',
    activity: { search: 'text' },
    dialog: { message: 'text', access: ACCESS },
    accessEdits: { '*': { access: ACCESS, saved: ACCESS } },
  },
  keys: { dialog: { name: 'text', date: 'text', deployments: 'text' } },
  files: {
    directory: 'text',
    filter: 'text',
    dialog: {
      name: 'text',
      destination: 'text',
      item: { path: 'text', name: 'text' },
      asked: { leaving: { to: 'address' } },
    },
  },
  databases: { filter: 'text', dialog: { name: 'text' } },
  overview: { query: 'text', collapsed: 'text' },
  deployments: { filter: 'text', dialog: { name: 'text' }, guide: { name: 'text' } },
  configuration: { drafts: 'byName', dialog: { to: 'address' } },
  drafts: { offers: { name: 'subject' } },
  selection: { directory: 'text' },
  uploads: { byId: { '*': { directory: 'text' } } },
  instance: INSTANCE,
  instancePanes: inEachPane(INSTANCE),
  console: CONSOLE,
  consolePanes: inEachPane(CONSOLE),
  consoles: { panes: { uid: 'text' }, picker: { query: 'text' } },
}

/** Fields whose value is one of a few fixed words. */
export const CHOSEN = new Set(
  'type kind metric tab by status endpointName encoding as table role rights scopes'.split(' '),
)
type Loose = Record<string, unknown>
export type Call = { endpointName: string; originalArgs?: unknown; queryCacheKey?: string; fixedCacheKey?: string }

export const isObject = (value: unknown): value is Loose => typeof value === 'object' && value !== null
export const typedOf = (table: Record<string, Typed>, name: string) =>
  Object.hasOwn(table, name) ? table[name] : undefined

/** Returns the arguments of the call of an action, which messages and keys may quote. */
export function typedArgumentsOf({ meta }: PlainAction): string[] {
  const texts: string[] = []
  const add = (text: string) => {
    texts.push(text)
    return text
  }
  const { arg } = (meta ?? {}) as { arg?: Call }
  changeTexts(arg?.originalArgs, (text, field) => {
    if (field === 'content') return mapSettings(text, (value) => quotedOf(value).map(add).join(' '))
    return CHOSEN.has(field) ? text : add(text)
  })
  return texts
}

/** Returns the typed texts and the arguments of an action. The state may still contain them after its eviction. */
export function typedTextsOf(action: PlainAction): string[] {
  const texts = typedArgumentsOf(action)
  const typed = typedOf(typedPayloads, action.type)
  if (typed) eachTyped(action.payload, typed, (text) => texts.push(text))
  return texts
}

/** Returns the name of the endpoint with which a key of the cache begins, or an empty text. */
export function endpointOf(key: string): string {
  const name = /^\w+(?=\()/.exec(key)?.[0] ?? ''
  return Object.hasOwn(callRules, name) ? name : ''
}

export type Kind = 'text' | 'address' | 'definition' | 'command' | 'subject'

/** The name of a dialog draft: the console's own words, and for dialogs of files a path. */
const FORM =
  /^(create (?:invite code|proxy|deployment|sql database|mongo database)|(?:create in|move from|rename) )(\/.*)?$/s

/** Changes the subject of a draft: the name of its deployment or file, or the path in the name of its dialog. */
export const mapSubject = (subject: string, change: (text: string) => string) => {
  const [, words = '', name = ''] = FORM.exec(subject) ?? ['', '', subject]
  return name === '' ? words : words + change(name)
}

/** Top-level settings of a definition whose values the recorder keeps (redact/mask.ts). */
const SETTING = /^(name|type|dataDirectory|node|description): (\S.*?)(\r?)$/s

/** The parts of a YAML value that a failure may quote: the whole value, and the text after indicators (`!!secret`). */
export const quotedOf = (value: string) => [value, /^[!|>&*]+([^\s!]+)/.exec(value)?.[1] ?? ''].filter(Boolean)

/** Changes the values of a definition's settings that the recorder keeps. */
export const mapSettings = (text: string, change: (value: string, name: string) => string) =>
  text
    .split('\n')
    .map((line) =>
      line.replace(
        SETTING,
        (_line, name: string, value: string, end: string) => `${name}: ${change(value, name)}${end}`,
      ),
    )
    .join('\n')

/** Changes only the typed texts of a value. */
export function mapTyped(value: unknown, typed: Typed, change: (text: string, kind: Kind) => string): unknown {
  if (Array.isArray(value)) return value.map((inner) => mapTyped(inner, typed, change))
  if (typed === 'byName')
    return isObject(value)
      ? Object.fromEntries(
          Object.entries(value).map(([name, inner]) => [
            change(name, 'text'),
            mapTyped(inner, { text: 'definition' }, change),
          ]),
        )
      : value
  if (typed === 'echo') return isObject(value) ? changeEcho(value, change) : value
  if (typeof typed === 'string') return typeof value === 'string' ? change(value, typed) : value
  if (!isObject(value)) return value
  return Object.fromEntries(
    Object.entries(value).map(([field, inner]) => {
      const kind = typedOf(typed, field) ?? typedOf(typed, '*')
      return [field, kind ? mapTyped(inner, kind, change) : inner]
    }),
  )
}

/** Changes a line of a console if it is the echo of a command. */
const changeEcho = (line: Loose, change: (text: string, kind: Kind) => string) =>
  line.type === 'command' && typeof line.content === 'string'
    ? { ...line, content: COMMAND_MARK + change(line.content.slice(COMMAND_MARK.length), 'command') }
    : line

/**
 * Visits typed texts, and in definitions the values of settings with their names. Skips addresses, because the log has
 * no intermediate values of them.
 */
export function eachTyped(value: unknown, typed: Typed, visit: (text: string, setting: string) => void) {
  mapTyped(value, typed, (text, kind) => {
    if (kind === 'text') visit(text, '')
    if (kind === 'subject')
      mapSubject(text, (name) => {
        visit(name, '')
        return name
      })
    if (kind === 'definition')
      mapSettings(text, (setting, name) => {
        visit(setting, name)
        return setting
      })
    return text
  })
}

/** Returns a part of an address without its encoding, or unchanged if it is not valid. */
export function decoded(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}
