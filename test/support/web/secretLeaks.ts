import { defaultSerializeQueryArgs } from '@reduxjs/toolkit/query'
import { writeLog } from '../../../src/web/actionLog/export/writeLog'
import { createRecorder } from '../../../src/web/actionLog/record/recorder'
import { replayReducer } from '../../../src/web/actionLog/replay/replayReducer'
import { CHOSEN, typedOf, typedPayloads, type Typed } from '../../../src/web/actionLog/export/typedPlaces'
import { payloads } from './loggedSamples/actions'
import { calls, failure } from './loggedSamples/calls'

/**
 * Finds secrets in exported logs: of walks that differ only in a secret, the logs must be equal. Any difference reveals
 * something about the secret.
 */

export type Action = { type: string; payload?: unknown; meta?: unknown; error?: unknown }
export type Place = { path: (string | number)[]; text: string }

const about = { build: 'test', exportedAt: 0, viewport: { width: 1440, height: 900 }, route: '/' }
const begun = replayReducer({}, { type: 'begun' })

export function exportOf(actions: readonly Action[], withOutput = false): string {
  const recorder = createRecorder(begun, 1000, replayReducer)
  actions.forEach((action, index) => recorder.note(1000 + index * 10, action))
  return JSON.stringify(writeLog(recorder.recording(withOutput), about, replayReducer))
}

/** The texts of a value, and where they are. */
export function placesIn(value: unknown, path: (string | number)[] = []): Place[] {
  if (typeof value === 'string') return [{ path, text: value }]
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, inner]) =>
    placesIn(inner, [...path, Array.isArray(value) ? Number(key) : key]),
  )
}

export function withText(value: unknown, [first, ...rest]: (string | number)[], text: string): unknown {
  if (first === undefined) return text
  const copy = (Array.isArray(value) ? [...(value as unknown[])] : { ...(value as object) }) as Record<string, unknown>
  copy[first] = withText(copy[first], rest, text)
  return copy
}

/** A text of a sample with a secret in it. */
export function holding(text: string, secret: string): string {
  if (text.includes('\n'))
    return `${text}description: ${secret}\n${secret}: ${secret}\n  - ${secret} # ${secret}\nready: "${secret}"\n`
  if (/^\/files\//.test(text)) {
    const part = encodeURIComponent(secret)
    return `/files/${part}?q=${part}&${part}=1`
  }
  if (text.startsWith('/')) return `${text.slice(0, text.lastIndexOf('/'))}/${secret}`
  return text.includes(' ') ? `${text.replace(/\.$/, '')} "${secret}".` : secret
}

type Variant = { args?: unknown; result?: unknown; failed?: unknown; error?: unknown }

/** What the store dispatches for a call that succeeds and for one that fails. */
export function actionsOfCall(endpointName: string, { args, result, failed = failure, error }: Variant): Action[] {
  const { fixedCacheKey } = calls[endpointName]!
  const isQuery = endpointName.startsWith('get')
  const kind = isQuery ? 'Query' : 'Mutation'
  const queryCacheKey = defaultSerializeQueryArgs({ endpointName, queryArgs: args, endpointDefinition: {} as never })
  const key = fixedCacheKey?.(args as never)
  const step = (phase: 'pending' | 'fulfilled' | 'rejected', requestId: string, more: object): Action => ({
    type: `api/execute${kind}/${phase}`,
    meta: {
      requestId,
      requestStatus: phase,
      startedTimeStamp: 1,
      ...(phase === 'fulfilled' && { fulfilledTimeStamp: 2 }),
      ...(phase === 'rejected' && { rejectedWithValue: error === undefined }),
      arg: {
        type: kind.toLowerCase(),
        endpointName,
        originalArgs: args,
        ...(isQuery ? { subscribe: true, queryCacheKey } : { track: true }),
        ...(key !== undefined && { fixedCacheKey: key }),
      },
      baseQueryMeta: { date: JSON.stringify(args), etag: JSON.stringify(result) },
    },
    ...more,
  })
  const [one, other] = [`${endpointName}-1`, `${endpointName}-2`]
  return [
    step('pending', one, {}),
    ...(isQuery
      ? [
          {
            type: 'api/internalSubscriptions/subscriptionsUpdated',
            payload: [{ op: 'add', path: [queryCacheKey], value: { [one]: {} } }],
          },
          {
            type: 'api/invalidation/updateProvidedBy',
            payload: [
              { queryCacheKey, providedTags: [{ type: 'Files', id: typeof args === 'string' ? args : 'all' }] },
            ],
          },
        ]
      : []),
    step('fulfilled', one, { payload: result }),
    ...(isQuery
      ? [
          {
            type: 'api/queries/queryResultPatched',
            payload: {
              queryCacheKey,
              patches: [
                { op: 'replace', path: [], value: result },
                ...placesIn(result).map(({ path, text }) => ({ op: 'replace', path, value: text })),
              ].filter(({ value }) => value !== undefined),
            },
          },
        ]
      : []),
    step('pending', other, {}),
    step('rejected', other, error === undefined ? { payload: failed } : { error }),
  ]
}

export const actionsOfType = (type: string, payload: unknown): Action[] => [
  {
    type,
    ...(payload !== undefined && { payload }),
    ...(/commands?(?:Submitted|Recalled)/.test(type) && { meta: {} }),
  },
]

/** The action that opens what another action of the samples changes. */
export const before: Record<string, string> = {
  'admin/inviteMessageTyped': 'admin/dialogOpened',
  'admin/inviteAccessChosen': 'admin/dialogOpened',
  'keys/creationEdited': 'keys/creationStarted',
  'files/creationEdited': 'files/creationStarted',
  'files/destinationTyped': 'files/moveStarted',
  'files/newNameTyped': 'files/renameStarted',
  'files/leaveAsked': 'files/fileOpened',
  'databases/nameTyped': 'databases/creationStarted',
  'consoles/pickerSearched': 'consoles/pickerOpened',
  'deployments/creationEdited': 'deployments/creationStarted',
  'uploads/advanced': 'uploads/filesChosen',
}

/** `of`: its endpoint or action. `isTyped`: the text is masked although it is not known as a secret. */
export type Walk = { name: string; of: string; isTyped: boolean; actions: (secret: string) => Action[] }

/** The type of a line is one of three (sockets/consoleFrames.ts). */
const isLineType = (type: string, path: Place['path']) => type === 'console/linesReceived' && path.at(-1) === 'type'

function isTypedAt(typed: Typed | undefined, [first, ...rest]: Place['path']): boolean {
  if (typed === undefined || typeof typed === 'string') return typed !== undefined
  return isTypedAt(typeof first === 'number' ? typed : typedOf(typed, first ?? ''), rest)
}

/** For each text of each call and action: a walk with a secret in its place. */
export function allWalks(): Walk[] {
  const ofCalls = Object.entries(calls).flatMap(([of, { args, result }]) => {
    const sample = { args, result, failed: { ...failure, failed: [{ path: '/nfsshare/a', message: 'No.' }] } }
    const walks = (['args', 'result', 'failed'] as const).flatMap((part) =>
      placesIn(sample[part]).map(({ path, text }) => ({
        name: `${of}: ${[part, ...path].join('.')}`,
        of,
        // Items of a list have the name of the list.
        isTyped: part === 'args' && !CHOSEN.has(String(path.findLast((step) => typeof step === 'string'))),
        actions: (secret: string) =>
          actionsOfCall(of, { ...sample, [part]: withText(sample[part], path, holding(text, secret)) }),
      })),
    )
    const error = (secret: string) => ({ name: 'Error', message: `Odd: ${secret}`, stack: secret })
    const exception = (secret: string) => actionsOfCall(of, { ...sample, error: error(secret) })
    return [...walks, { name: `${of}: exception`, of, isTyped: false, actions: exception }]
  })
  const ofActions = Object.entries(payloads).flatMap(([of, payload]) =>
    placesIn(payload)
      .filter(({ path }) => !isLineType(of, path))
      .map(({ path, text }) => ({
        name: `${of}: ${path.join('.')}`,
        of,
        isTyped: isTypedAt(typedOf(typedPayloads, of), path),
        actions: (secret: string) => [
          ...(before[of] ? actionsOfType(before[of], payloads[before[of]]) : []),
          ...actionsOfType(of, withText(payload, path, holding(text, secret))),
        ],
      })),
  )
  return [...ofCalls, ...ofActions]
}

/** Groups walks to export few logs: each group has at most one walk of each endpoint and action. */
export function groupsOf(walks: readonly Walk[]): Walk[][] {
  const groups: Walk[][] = []
  const counts = new Map<string, number>()
  for (const walk of walks) {
    const count = counts.get(walk.of) ?? 0
    counts.set(walk.of, count + 1)
    ;(groups[count] ??= []).push(walk)
  }
  return groups
}

/** Another secret with the same length and the same kinds of characters. */
export const unlike = (secret: string) =>
  secret
    .replace(/[a-z]/g, (letter) => String.fromCharCode(((letter.charCodeAt(0) - 94) % 26) + 97))
    .replace(/[A-Z]/g, (letter) => String.fromCharCode(((letter.charCodeAt(0) - 60) % 26) + 65))
    .replace(/[0-9]/g, (digit) => String((Number(digit) + 1) % 10))
    .replaceAll('\u00e4', '\u00f6')

/** Where two texts begin to differ. Empty if they do not. */
export function difference(one: string, other: string): string {
  if (one === other) return ''
  let at = 0
  while (one[at] === other[at]) at++
  return `${one.slice(Math.max(0, at - 100), at + 40)} ≠ ${other.slice(at, at + 40)}`
}
