import { performance } from 'node:perf_hooks'
import { createRecorder } from '../../src/web/actionLog/record/recorder'
import { replayReducer } from '../../src/web/actionLog/replay/replayReducer'
import { complete } from '../../src/web/actionLog/replay/steps'
import { writeLog } from '../../src/web/actionLog/export/writeLog'
import { linesReceived } from '../../src/web/sockets/consoleSlice'
import { sectionToggled } from '../../src/web/features/overview/overviewSlice'
import { draftTyped } from '../../src/web/features/deployments/configuration/configurationSlice'

/**
 * The cost of the recorder with a full log, where each action evicts the oldest one, which is reduced into the base
 * state.
 * Run with `NODE_ENV=production NODE_OPTIONS=--expose-gc npm run bench recorder`.
 */
const ROUNDS = 6000

const instances = (deployment: string, count: number) =>
  Array.from({ length: count }, (_, index) => ({
    uid: `5f0c1d2e-0000-4000-8000-${String(index).padStart(12, '0')}`,
    name: `${index.toString(16).padStart(6, '0')}-${deployment}`,
    deployment,
    podName: `pod-${index}`,
    ip: '10.0.0.1',
    state: 'RUNNING',
    type: 'minecraft',
    players: {},
    connections: index,
    uptime: `${Math.floor(Math.random() * 60)}m`,
    cpu: Math.random() * 100,
    memory: { used: Math.random(), total: 2 },
  }))
const overview = () => ({
  managerSilent: false,
  sections: ['lobby', 'survival', 'proxy', 'bot'].map((name) => ({
    deployment: { name, typeIndex: 2, enabled: true, path: `/nfsshare/${name}`, dataDirectory: `/${name}` },
    instances: instances(name, 5),
  })),
})
let requests = 0
const poll = (kind: 'pending' | 'fulfilled') => ({
  type: `api/executeQuery/${kind}`,
  payload: kind === 'fulfilled' ? overview() : undefined,
  meta: {
    requestId: `request-${kind === 'pending' ? ++requests : requests}`,
    requestStatus: kind,
    startedTimeStamp: 1,
    fulfilledTimeStamp: 2,
    baseQueryMeta: {},
    arg: {
      type: 'query',
      endpointName: 'getOverview',
      subscribe: true,
      queryCacheKey: 'getOverview(undefined)',
      subscriptionOptions: { pollingInterval: 3000 },
    },
  },
})
const lines = (count: number) =>
  linesReceived(
    Array.from({ length: count }, (_, index) =>
      Object.freeze({
        type: 'message' as const,
        content: `[12:00:${index % 60}] [Server thread/INFO]: ann moved to the spawn of the lobby, and 12 others with her (${index})`,
      }),
    ),
  )
const definition = `name: lobby\ntype: scalable\nrun:\n${'  env: { KEY: value }\n'.repeat(40)}`

/** A minute of use: typing, polling, and an instance that prints occasionally. */
const work = (index: number) => {
  if (index % 10 === 0) return poll('pending')
  if (index % 10 === 1) return poll('fulfilled')
  if (index % 10 < 4) return lines(3)
  if (index % 10 === 4) return draftTyped({ name: 'lobby', text: definition })
  return sectionToggled(`section-${index % 7}`)
}
const flood = () => lines(800)

function measure(name: string, actionAt: (index: number) => { type: string }) {
  const base = complete(replayReducer, {})
  const recorder = createRecorder(base, 0, replayReducer)
  globalThis.gc?.()
  const before = process.memoryUsage().heapUsed
  const fresh = Array.from({ length: 500 }, (_, index) => actionAt(index))
  const times: number[] = []
  let cpu = 0
  for (let index = 0; index < ROUNDS; index++) {
    const action = index < ROUNDS - 2000 ? fresh[index % fresh.length]! : actionAt(index)
    const busy = process.cpuUsage()
    const begun = performance.now()
    recorder.note(index, action)
    if (index < 2500) continue
    times.push(performance.now() - begun)
    const { user, system } = process.cpuUsage(busy)
    cpu += user + system
  }
  fresh.length = 0
  globalThis.gc?.()
  const held = (process.memoryUsage().heapUsed - before) / 1e6
  times.sort((one, other) => one - other)
  const begun = performance.now()
  const log = writeLog(
    recorder.recording(),
    { build: 'bench', exportedAt: 0, viewport: { width: 0, height: 0 }, route: '/' },
    replayReducer,
  )
  const text = JSON.stringify(log)
  console.log(
    `${name}: ${(cpu / 1000 / times.length).toFixed(4)} ms of CPU an action (all threads), by the clock mean ${(times.reduce((sum, time) => sum + time, 0) / times.length).toFixed(4)}, p50 ${times[Math.floor(times.length / 2)]!.toFixed(4)}, p99 ${times[Math.floor(times.length * 0.99)]!.toFixed(4)}; ` +
      `${log.actions.length} actions kept in ${held.toFixed(1)} MB; export ${(performance.now() - begun).toFixed(0)} ms, ${(text.length / 1e6).toFixed(1)} MB`,
  )
}

measure('work', work)
measure('flood, 800 lines an action', flood)
