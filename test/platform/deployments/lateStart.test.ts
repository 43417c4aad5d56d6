import { lateStartOf } from '../../../src/platform/deployments/reconcile/lateStart'

test.each([
  ['a console line that matches Done', { ready: 'Done' }, {}],
  ['its program to start', {}, {}],
  ['the copy of its files', { ready: 'Done' }, { waitsFor: 'the copy of its files' }],
  ['its program to start', { ready: 'Done' }, { waitsFor: 'its program to start' }],
] as const)('a late start waits for %s', (waitingFor, { ready = undefined }: { ready?: string }, more) => {
  const run = { podName: 'lobby-1', runId: 'run', state: 'STARTING', ip: '', port: undefined, startedAt: 0 } as const
  const late = lateStartOf({ ready, readyTimeoutSeconds: 300 }, { ...run, exit: undefined, ...more }, 300_000)
  expect(late).toEqual({ afterSeconds: 300, waitingFor })
})
