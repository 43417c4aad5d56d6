import { writeLog } from '../../../src/web/actionLog/export/writeLog'
import { createRecorder } from '../../../src/web/actionLog/record/recorder'
import { replayLog } from '../../../src/web/actionLog/replay/checkLog'
import { readLog } from '../../../src/web/actionLog/replay/readLog'
import { replayReducer } from '../../../src/web/actionLog/replay/replayReducer'
import { filterTyped } from '../../../src/web/features/files/filesSlice'
import { sectionToggled } from '../../../src/web/features/overview/overviewSlice'
import { linesReceived } from '../../../src/web/sockets/consoleSlice'

export type Action = { type: string }

/** Unless a test signs in with it, the console does not know this secret, as after a reload of the page. */
export const SECRET = 'hunter2secret'
const about = { build: 'test', exportedAt: 0, viewport: { width: 1440, height: 900 }, route: '/' }

/** An action of RTK Query whose call is kept in the state. */
export function call(
  endpointName: string,
  originalArgs: unknown,
  phase: 'pending' | 'fulfilled' | 'rejected',
  payload?: unknown,
  { requestId = 'r1', ...arg }: { requestId?: string; fixedCacheKey?: string } = {},
) {
  const kind = /^get/.test(endpointName) ? 'Query' : 'Mutation'
  return {
    type: `api/execute${kind}/${phase}`,
    ...(payload !== undefined && { payload }),
    meta: {
      requestId,
      requestStatus: phase,
      startedTimeStamp: 1,
      ...(phase === 'fulfilled' && { fulfilledTimeStamp: 2 }),
      ...(phase === 'rejected' && { rejectedWithValue: true }),
      arg: {
        type: kind.toLowerCase(),
        endpointName,
        originalArgs,
        ...(kind === 'Mutation' && { track: true }),
        ...arg,
        ...(kind === 'Query' && {
          subscribe: true,
          queryCacheKey: `${endpointName}(${originalArgs === undefined ? 'undefined' : JSON.stringify(originalArgs)})`,
        }),
      },
    },
  }
}

/** The exported, replayable log of these actions. */
export function exported(actions: Action[], withOutput = false) {
  const recorder = createRecorder(replayReducer({}, { type: 'begun' }), 1000, replayReducer)
  actions.forEach((action, index) => recorder.note(1000 + index * 10, action))
  const text = JSON.stringify(writeLog(recorder.recording(withOutput), about, replayReducer))
  const log = readLog(text)
  expect(replayLog(log, replayReducer)).toMatchObject({ deviations: [], final: [] })
  return { text, log }
}

/** Enough actions to move everything before them into the base state. */
export const later = Array.from({ length: 2000 }, () => sectionToggled('world'))

export const passwordEntered = (password: string) => call('login', { username: 'ann', password }, 'pending')
export const codeEntered = (code: string) => call('verifyLogin', { code }, 'pending')

/** A text typed into the filter of the files, one action per key. */
export const byKey = (text: string) => Array.from(text, (_letter, at) => filterTyped(text.slice(0, at + 1)))

/** Lines of console output. */
export const lines = (...contents: string[]) => linesReceived(contents.map((content) => ({ type: 'message', content })))

/** A response with the entries of a directory. */
export const files = (...names: string[]) =>
  call('getFiles', '/nfsshare', 'fulfilled', {
    files: names.map((name) => ({ path: `/nfsshare/${name}`, name, type: 'f' })),
    deploymentTypeIndex: null,
  })

export function expectNowhere(text: string, secret = SECRET) {
  const at = text.indexOf(secret)
  expect(at < 0 ? '' : text.slice(Math.max(0, at - 80), at + 40)).toBe('')
}

/** Fails if an exported log contains the leak, without and with console output, or only with it. */
export function expectHidden(actions: Action[], leak: RegExp, outputOnly = false) {
  for (const withOutput of outputOnly ? [true] : [false, true]) {
    const { text } = exported(actions, withOutput)
    expect(leak.exec(text) && text.slice(Math.max(0, text.search(leak) - 40), text.search(leak) + 60)).toBeNull()
  }
}
