import { writeLog } from '../../../src/web/actionLog/export/writeLog'
import { createRecorder } from '../../../src/web/actionLog/record/recorder'
import { replayLog } from '../../../src/web/actionLog/replay/checkLog'
import { readLog } from '../../../src/web/actionLog/replay/readLog'
import { replayReducer } from '../../../src/web/actionLog/replay/replayReducer'
import { sectionToggled } from '../../../src/web/features/overview/overviewSlice'

/** The console is not told that this is a secret: it was typed as one before the page was reloaded. */
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
export function exported(actions: { type: string }[]) {
  const recorder = createRecorder(replayReducer({}, { type: 'begun' }), 1000, replayReducer)
  actions.forEach((action, index) => recorder.note(1000 + index * 10, action))
  const text = JSON.stringify(writeLog(recorder.recording(), about, replayReducer))
  const log = readLog(text)
  expect(replayLog(log, replayReducer)).toMatchObject({ deviations: [], final: [] })
  return { text, log }
}

/** Enough actions to move everything before them into the base state. */
export const later = Array.from({ length: 2000 }, () => sectionToggled('world'))

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
