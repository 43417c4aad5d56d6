import { HIDDEN } from '../../../contract/secrets/maskCommand'
import { changeTexts } from './hide'
import type { Recording, State } from '../replay/steps'
import { ROLES } from '../../../contract/pageRules'
import { CHOSEN, isObject, mapSettings, type Call } from './typedPlaces'

/** The endpoint of the activity log. Its argument is the search text. */
export const SEARCH = 'getActivity'

const MASKED = /^\u2022/

/** The description of a deployment whose stored definition is not valid (platform/deployments/storedDeployments.ts). */
export const INVALID_DEFINITION = /^Its configuration is not valid: /

/**
 * What a message may quote: a text in quotes (those of the platform, or of another server), a path, or a pattern for
 * console lines. An unclosed quote extends to the end, so that matching takes linear time; a single one may be an
 * apostrophe. A path in the shared area may contain blanks: it extends to the last words with which the server
 * continues, or to the end.
 */
const QUOTATION =
  /(?<=There is no )\/nfsshare[/•].+|(?<![^\s("])\/nfsshare[/•](?:.+(?=(?: in "mounts"| (?:is (?:a|an|not|in|on|being)|leads|no longer|(?<!no longer )exists|(?<!in "mounts" )does not|cannot|was|would)\b|: its owner))|.+)|"(?:[^"\\]|\\.)*"?|(?<![^\s("])\/[^\s")]+|(?<=that matches ).+|[“„][^“”]*[“”]?|«[^»]*»?|‘[^’]*’?|`[^`]*`?|(?<!\w)'[^']*'/gs

export const withoutQuotations = (message: string) => message.replace(QUOTATION, HIDDEN)

/** Calls whose failures quote a stored definition, which the page may not have loaded. */
const OF_STORED = /^(?:restart|toggle)Deployment$/

/**
 * Masks the quotations in a failure of a call with masked arguments: the server may have shortened or changed what it
 * quotes of them. Also in a failure that quotes a stored definition.
 */
export const maskFailure = (failure: unknown, { endpointName = '', originalArgs }: Partial<Call>): unknown =>
  OF_STORED.test(endpointName) || /\u2022/.test(JSON.stringify(originalArgs) ?? '')
    ? changeTexts(failure, (text, field) => (/^(?:message|field)$/.test(field) ? withoutQuotations(text) : text))
    : failure

const NOTIFIED = 'notifications/notified'

/**
 * Masks the quotations in notifications with the server's words, unless a failure in the same log keeps these words.
 * The failure may have been evicted, or the words may come from an upload, which is no call.
 */
export function maskNotifications({ startedAt, base, actions }: Recording): Recording {
  const messages = new Set<string>()
  const { queries, mutations } = (base.api ?? {}) as Record<string, Record<string, { error?: unknown }> | undefined>
  const failures = Object.values({ ...queries, ...mutations }).map(({ error }) => error)
  const rejected = actions.filter(({ type }) => type.endsWith('/rejected')).map(({ payload }) => payload)
  for (const failure of [...failures, ...rejected]) changeTexts(failure, (text) => (messages.add(text), text))
  const mask = (notification: unknown): unknown => {
    const { type, message } = notification as { type: string; message: string }
    // Messages about successes are the console's own.
    return type === 'success' || messages.has(message)
      ? notification
      : { ...(notification as object), message: withoutQuotations(message) }
  }
  const { notifications } = base as { notifications?: unknown[] }
  return {
    startedAt,
    base: { ...base, ...(notifications && { notifications: notifications.map(mask) }) },
    actions: actions.map((action) =>
      action.type === NOTIFIED ? { ...action, payload: mask(action.payload) } : action,
    ),
  }
}

/** Endpoints whose responses say for which deployments a user or key has rights. Some of these may be deleted. */
const WITH_RIGHTS = /^(?:getAccount|getUserAccess|getInviteCodes|getApiKeys|getUserKeys|createApiKey)$/

/**
 * Masks what a response repeats of free texts that users wrote, which are no names, and the deployments in rights.
 */
function maskFreeTexts(response: unknown, endpointName: string | undefined, mask: (text: string) => string): unknown {
  return changeTexts(response, (text, field) => {
    if (field === 'content') return mapSettings(text, (value, name) => (name === 'description' ? HIDDEN : value))
    const isFree =
      field === 'description' ||
      (/^(?:message|used_by)$/.test(field) && endpointName === 'getInviteCodes') ||
      (/^deployments?$/.test(field) && WITH_RIGHTS.test(endpointName ?? ''))
    return isFree && !INVALID_DEFINITION.test(text) ? mask(text) : text
  })
}

/**
 * Masks the free texts and the arguments of refused calls that a response repeats, such as directories that could not
 * be created. Also masks names and the typed parts of commands in the activity log, and leaves out the results of a
 * masked search, because each entry contains the search text.
 *
 * @param call with masked arguments
 */
export function maskEchoed(
  { endpointName, originalArgs }: Partial<Call>,
  response: unknown,
  mask: (text: string) => string,
  maskCommand: (command: string) => string = mask,
): unknown {
  if (endpointName === 'createDirectories' && isObject(response))
    return { ...response, failed: changeTexts(response.failed, (text) => mask(text)) }
  if (endpointName !== SEARCH) return maskFreeTexts(response, endpointName, mask)
  const { search } = (originalArgs ?? {}) as { search?: string }
  return MASKED.test(search ?? '') ? withoutEntries(response) : maskSubjects(response, mask, maskCommand)
}

const withoutEntries = (response: unknown) =>
  isObject(response) && Array.isArray(response.pages)
    ? { ...response, pages: response.pages.map((page: object) => ({ ...page, entries: [] })) }
    : response

/** A command in the activity log: the name of the instance, and the command. */
const COMMAND = /^([^:]*)(?:: (.*))?$/s
/** The name of an instance: that of its deployment, and an id. */
const ID_OF_INSTANCE = /-[\da-z]{1,40}$/
/** Separates several paths in a subject. */
const NEXT_PATH = /( to |, )(?=\/nfsshare\/)/
const OWN_SUBJECTS = new Set<string>(ROLES)

/** Masks the names in the subject of an entry of the activity log. */
function maskSubject(kind: unknown, subject: string, mask: (text: string) => string, maskCommand: typeof mask): string {
  // The subject of an invite code is its message.
  if (kind === 'invite') return mask(subject)
  if (OWN_SUBJECTS.has(subject)) return subject
  if (kind === 'power' || kind === 'command') {
    const [, name = '', command] = COMMAND.exec(subject) ?? []
    const id = ID_OF_INSTANCE.exec(name)?.[0] ?? ''
    return (
      mask(name.slice(0, name.length - id.length)) + id + (command === undefined ? '' : `: ${maskCommand(command)}`)
    )
  }
  // One name, or that of a user with one of theirs.
  const parts = subject.split(kind === 'file' ? NEXT_PATH : /(: )/)
  return parts.map((part, at) => (at % 2 === 0 ? mask(part) : part)).join('')
}

/**
 * Masks names in entries of the activity log like typed texts: a response must contain them elsewhere, because a user
 * typed them once, and what they named may be deleted.
 */
function maskSubjects(value: unknown, mask: (text: string) => string, maskCommand: typeof mask): unknown {
  if (Array.isArray(value)) return value.map((inner) => maskSubjects(inner, mask, maskCommand))
  if (!isObject(value)) return value
  const { subject, kind, api_key, username } = value
  return {
    ...Object.fromEntries(
      Object.entries(value).map(([field, inner]) => [field, maskSubjects(inner, mask, maskCommand)]),
    ),
    ...(typeof subject === 'string' && { subject: maskSubject(kind, subject, mask, maskCommand) }),
    ...(typeof api_key === 'string' && { api_key: mask(api_key) }),
    ...(typeof username === 'string' && { username: mask(username) }),
  }
}

export type Responses = ReturnType<typeof responsesOf>
export type WithoutSecrets = (text: string, field: string) => string

export const isResponse = ({ type }: { type: string }) => /^api\/execute(?:Query|Mutation)\/fulfilled$/.test(type)

/** A typed number that may be a PIN. */
const NUMBER = /^\d{4,}$/
/** An id. Its digits may equal a PIN by chance. */
const ID =
  /(?<![\da-z])(?:[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}|(?=\d{0,40}[a-f])(?=[a-f]{0,40}\d)[\da-f]{6,64})(?![\da-z])/g

/** Indexes the texts of the server's responses, without console output. */
export function responsesOf(base: State, actions: Recording['actions'], withoutSecrets: WithoutSecrets) {
  const texts = new Set<string>()
  const spellings = new Set<string>()
  const add = (response: unknown, endpointName?: string) => {
    // Console output and repeated arguments of refused calls do not count as responses.
    if (endpointName === 'getCrashCapsule') return
    changeTexts(
      maskEchoed({ endpointName }, response, () => ''),
      (text, field) => {
        if (CHOSEN.has(field)) return text
        const shown = withoutSecrets(text, field)
        texts.add(shown.toLowerCase())
        spellings.add(shown)
        return text
      },
    )
  }
  const { queries = {} } = (base.api ?? {}) as { queries?: Record<string, { endpointName?: string; data?: unknown }> }
  for (const { endpointName, data } of Object.values(queries)) add(data, endpointName)
  add((base.session as { current?: unknown } | undefined)?.current)
  for (const action of actions) {
    const { arg } = (action.meta ?? {}) as { arg?: Call }
    if (isResponse(action)) add(action.payload, arg?.endpointName)
    if (action.type === 'session/started' || action.type === 'realtime/messageReceived') add(action.payload)
  }
  const all = [...texts].join('\n')
  const withoutIds = all.replace(ID, '')
  const allSpelled = [...spellings].join('\n')
  const held = new Map<string, boolean>()
  const spelled = new Map<string, string>()
  return {
    /** Whether a response contains the text. Fast for typing: a text whose start is in no response is in none. */
    hold(text: string): boolean {
      const isBegun = held.get(text.slice(0, -1)) !== false || NUMBER.test(text.slice(0, -1))
      const isHeld = held.get(text) ?? (isBegun && (NUMBER.test(text) ? withoutIds : all).includes(text.toLowerCase()))
      held.set(text, isHeld)
      return isHeld
    },
    /** Returns the text, in lower case if no response contains it in the same case. */
    spelled(text: string): string {
      const shown = spelled.get(text) ?? (allSpelled.includes(text) ? text : text.toLowerCase())
      spelled.set(text, shown)
      return shown
    },
    /** Whether the text equals a whole text of a response. */
    holdWhole: (text: string) => texts.has(text.toLowerCase()),
  }
}
