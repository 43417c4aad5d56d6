import { useEchoConsole } from '../../support/platform/echoConsole'
import { until } from '../../support/platform/until'

const { platform, bob, call, instance, stateIs, podName, open } = useEchoConsole()

test('decisions §6: the last lines are sent first, then new ones numbered without gaps, and commands are executed', async () => {
  const viewer = await open()
  await until(() => viewer.lines.includes('Ready'))
  viewer.command('hello')
  await until(() => viewer.lines.includes('heard hello'))
  viewer.command('oops')
  await until(() => viewer.frames.some(({ type, content }) => type === 'error' && content === 'went wrong'))
  const numbers = viewer.numbered.map(([seq]) => seq)
  expect(numbers).toEqual(numbers.map((_number, at) => numbers[0]! + at))
})

test('a request with a ref is answered: done, or why not', async () => {
  const viewer = await open()
  viewer.send({ type: 'command', command: 'answered', ref: 'a' })
  viewer.send({ type: 'power', action: 'drainAndStop', ref: 'b' })
  viewer.send({ type: 'power', action: 'drainAndStop' })
  await until(() => viewer.answers.length === 2 && viewer.lines.some((line) => line.includes('has no "drain" setting')))
  expect(viewer.answers).toEqual([
    { type: 'answer', ref: 'a' },
    { type: 'answer', ref: 'b', failure: { code: 'CONFLICT', message: expect.stringContaining('"drain"') } },
  ])
  expect(viewer.lines.filter((line) => line.includes('has no "drain" setting'))).toHaveLength(1)
})

test('decisions §6: sends the last 1,000 lines of a long history, several in a frame', async () => {
  const first = await open()
  first.command('print 3000')
  await until(() => first.lines.includes('line 3000'))
  const viewer = await open()
  await until(() => viewer.lines.includes('line 3000'))
  expect(viewer.numbered).toHaveLength(1000)
  expect(viewer.frames.length).toBeLessThan(20)
})

test('a reconnect resumes after the last received line, without gaps or duplicates', async () => {
  const before = await open()
  before.command('print 500')
  await until(() => before.lines.includes('line 500'))
  const seen = before.numbered.at(-1)![0]
  before.socket.terminate()
  const between = await open()
  between.command('print 200')
  await until(
    () => between.lines.filter((line) => line === 'line 200').length >= 1 && between.numbered.at(-1)![0] >= seen + 200,
  )
  const after = await open(`?since=${seen + 1}`)
  await until(() => after.numbered.length >= 200)
  expect(after.numbered.slice(0, 200).map(([seq]) => seq)).toEqual(
    Array.from({ length: 200 }, (_line, at) => seen + 1 + at),
  )
  expect(after.numbered[0]![1]).toBe('line 1')
  const ahead = await open('?since=99999999')
  await until(() => ahead.numbered.length === 1000)
})

test('a viewer that requests lines no longer kept gets the number of skipped lines', async () => {
  const viewer = await open()
  viewer.command('print 60000')
  await until(() => viewer.lines.includes('line 60000'))
  const late = await open('?since=1')
  await until(() => late.numbered.length >= 10_000)
  const [oldest] = late.numbered[0]!
  expect(late.frames[0]).toEqual({ type: 'system', content: `[System] ${oldest - 1} lines skipped` })
})

test('security 39: a viewer that does not read delays no other viewer', async () => {
  const idle = await open()
  idle.socket.pause()
  const busy = await open()
  for (let round = 0; round < 8; round++) {
    const [last] = busy.numbered.at(-1)!
    busy.command('wide 20000')
    await until(() => busy.numbered.at(-1)![0] >= last + 20_000)
  }
  idle.socket.resume()
  await until(() => idle.numbered.at(-1)?.[0] === busy.numbered.at(-1)![0])
  expect(busy.lines.join()).not.toContain('lines skipped')
  expect(idle.lines.some((line) => /^\[System\] \d+ lines skipped$/.test(line))).toBe(true)
})

test('viewers of a shared console see who sent a command', async () => {
  const alone = await open()
  alone.command('quietly')
  await until(() => alone.lines.includes('heard quietly'))
  expect(alone.lines.join()).not.toContain('ann: quietly')
  const other = await open('', bob())
  other.command('say hi')
  await until(() =>
    [alone, other].every(
      ({ lines }) => lines.includes('\u001b[2mbob: say hi\u001b[0m') && lines.includes('heard say hi'),
    ),
  )
})

test('viewers of a shared console do not see commands that may contain a secret', async () => {
  const viewer = await open()
  const other = await open('', bob())
  other.command('/login hunter22-canary')
  await until(() => viewer.lines.includes('heard /login hunter22-canary'))
  expect(viewer.lines).toContain('\u001b[2mbob: (not shown: it looks like it holds a secret)\u001b[0m')
  expect(viewer.lines.join('\n')).not.toContain('bob: /login')
})

test('§4 power: stop keeps an instance stopped, start and restart run it, and every viewer gets the state', async () => {
  const viewer = await open()
  const states = () => viewer.frames.filter(({ type }) => type === 'power').map(({ content }) => content)
  viewer.command('hold')
  viewer.send({ type: 'power', action: 'stop' })
  await until(() => states().at(-1) === 'STOPPING')
  const [stopping] = await platform().runtime.list()
  await platform().runtime.write(stopping!.podName, 'go')
  await until(() => states().at(-1) === 'STOPPED')
  viewer.command('anybody?')
  await until(() => viewer.lines.includes('[System] The instance is not running.'))
  await until(async () => (await instance()).lastExit?.code === 0)
  viewer.send({ type: 'power', action: 'start' })
  await until(() => states().at(-1) === 'RUNNING')
  const [run] = await platform().runtime.list()
  viewer.send({ type: 'power', action: 'restart' })
  await until(async () => (await platform().runtime.list())[0]!.runId !== run!.runId)
  await until(() => states().at(-1) === 'RUNNING')
  viewer.send({ type: 'power', action: 'kill' })
  await until(() => states().at(-1) === 'STOPPED')
  viewer.send({ type: 'power', action: 'start' })
  await until(() => states().at(-1) === 'RUNNING')
})

test('a crash is counted, and its last lines are kept in a crash capsule', async () => {
  const viewer = await open()
  viewer.command('print 60')
  viewer.command('crash')
  await until(() => viewer.lines.includes('[System] Ended by itself with exit code 3.'))
  const crashed = await until(instance, ({ restarts }) => restarts > 0)
  const capsule = await call('GET', `/api/deployments/echo/instances/${crashed.uid}/crash`)
  expect(capsule).toMatchObject({
    status: 200,
    body: { data: { exit: { code: 3, reason: 'Ended by itself with exit code 3' } } },
  })
  const lines = capsule.body.data.lines as { content: string }[]
  expect(lines).toHaveLength(50)
  expect(lines.map(({ content }) => content)).toContain('line 60')
  await stateIs('RUNNING')
})

test('§7 metrics are returned for a pod, and 404 for an unknown one', async () => {
  // Older than any sample that the platform takes itself, so these are the first two.
  const at = [1800, 1785].map((secondsAgo) => new Date(Date.now() - secondsAgo * 1000))
  await platform()
    .db.insertInto('metrics')
    .values(at.map((at) => ({ pod_name: podName(), at, cpu: 12.5, memory: 2048 })))
    .execute()
  const firstTwo = async (name: string) => {
    const { body } = await call('GET', `/api/metrics/${name}?pod=${podName()}`)
    return (body.data.data as unknown[]).slice(0, 2)
  }
  expect(await firstTwo('cpu')).toEqual(at.map((at) => ({ timestamp: at.getTime(), value: 12.5 })))
  expect(await firstTwo('memory')).toEqual(at.map((at) => ({ timestamp: at.getTime(), value: 2048 })))
  expect(await call('GET', '/api/metrics/cpu?pod=nothing')).toMatchObject({ status: 404 })
  expect(await call('GET', '/api/metrics/cpu')).toMatchObject({ status: 400, body: { field: 'pod' } })
})

test('a command of maximum length is accepted, whatever its characters', async () => {
  const viewer = await open()
  viewer.command('\u6f22'.repeat(8192))
  await until(() => viewer.closed ?? viewer.lines.some((line) => line.startsWith('heard \u6f22\u6f22')))
  expect(viewer.closed).toBeUndefined()
  viewer.command('x'.repeat(8193))
  await until(() => viewer.lines.includes('[System] This is not a valid console request.'))
})

test('decisions §10: power and commands are recorded with user and result, unknown commands by first word and length only', async () => {
  const viewer = await open('', bob())
  viewer.command('give ann minecraft:compass')
  viewer.command('/login hunter22-canary')
  viewer.command('rcon.password=hunter23-canary')
  viewer.command('setkey hunter24-canary')
  viewer.command('claim trust bob')
  await until(() => viewer.lines.includes('heard claim trust bob'))
  viewer.send({ type: 'power', action: 'stop' })
  await stateIs('STOPPED')
  viewer.command('anybody?')
  await until(() => viewer.lines.includes('[System] The instance is not running.'))
  viewer.send({ type: 'power', action: 'start' })
  await stateIs('RUNNING')
  const { entries } = await platform().activityLog.list({ search: podName() })
  expect(
    entries
      .slice(0, 8)
      .map(({ username, address, kind, action, subject, succeeded }) => [
        username,
        address,
        kind,
        action,
        subject,
        succeeded,
      ]),
  ).toEqual([
    ['bob', '127.0.0.1', 'power', 'started instance', podName(), true],
    ['bob', '127.0.0.1', 'command', 'sent command', `${podName()}: ••• (8 characters)`, false],
    ['bob', '127.0.0.1', 'power', 'stopped instance', podName(), true],
    ['bob', '127.0.0.1', 'command', 'sent command', `${podName()}: claim trust bob`, true],
    ['bob', '127.0.0.1', 'command', 'sent command', `${podName()}: setkey ••• (22 characters)`, true],
    ['bob', '127.0.0.1', 'command', 'sent command', `${podName()}: ••• (29 characters)`, true],
    ['bob', '127.0.0.1', 'command', 'sent command', `${podName()}: /login ••• (22 characters)`, true],
    ['bob', '127.0.0.1', 'command', 'sent command', `${podName()}: give ann minecraft:compass`, true],
  ])
  expect(JSON.stringify(await platform().db.selectFrom('activity').selectAll().execute())).not.toContain('canary')
})
