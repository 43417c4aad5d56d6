import type { ActivityRecord } from '../../../src/platform/state/accounts/activity'
import { createConsoleRecord, type ConsoleAction } from '../../../src/platform/sockets/consoleRecord'

const deed = (command: string, deployment = 'lobby'): ConsoleAction => ({
  username: 'ann',
  address: '127.0.0.1',
  apiKey: null,
  deployment,
  podName: `${deployment}-1`,
  request: { type: 'command', command },
  succeeded: true,
})

test('decisions §10: console actions are recorded in order, and definitions are requested once per batch', async () => {
  const recorded: ActivityRecord[] = []
  const asked: string[] = []
  const record = createConsoleRecord({ record: (happening) => void recorded.push(happening) }, async (deployment) => {
    asked.push(deployment)
    return deployment === 'lobby' ? ['claim'] : []
  })
  record.add(deed('first'))
  for (const name of ['lobby', 'hub', 'lobby']) record.add(deed('claim trust bob', name))
  record.add({ ...deed(''), request: { type: 'power', action: 'stop' } })
  await record.close()
  expect(recorded.map(({ kind, subject }) => [kind, subject])).toEqual([
    ['command', 'lobby-1: first ••• (5 characters)'],
    ['command', 'lobby-1: claim trust bob'],
    ['command', 'hub-1: claim ••• (15 characters)'],
    ['command', 'lobby-1: claim trust bob'],
    ['power', 'lobby-1'],
  ])
  // The first request is for one record; the others arrived meanwhile and share one request per definition.
  expect(asked).toEqual(['lobby', 'lobby', 'hub'])
})

test('security 52: while definitions are unavailable, few commands are buffered and the rest is recorded as unknown', async () => {
  const recorded: ActivityRecord[] = []
  let give: (plain: string[]) => void = () => undefined
  const record = createConsoleRecord(
    { record: (happening) => void recorded.push(happening) },
    () => new Promise((resolve) => (give = resolve)),
  )
  for (let count = 0; count < 2000; count++) record.add(deed('claim trust bob'))
  expect(recorded).toHaveLength(1500)
  expect(recorded[0]?.subject).toBe('lobby-1: claim ••• (15 characters)')
  give(['claim'])
  const closed = record.close()
  // Records that arrived during the first request.
  await new Promise(setImmediate)
  give(['claim'])
  await closed
  expect(recorded).toHaveLength(2000)
  expect(recorded.filter(({ subject }) => subject === 'lobby-1: claim trust bob')).toHaveLength(500)
})
