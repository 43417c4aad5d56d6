/** @jest-environment node */
import { commandNote, COMMAND_NOT_SHOWN } from '../../../src/contract/sockets/commandNote'
import { commandsLoaded } from '../../../src/web/features/instance/instanceSlice'
import { commandSubmitted, linesReceived } from '../../../src/web/sockets/consoleSlice'
import { type Action, call, expectHidden, expectNowhere, exported, lines, SECRET } from '../../support/web/exportedLog'

const shown = (command: string, username = 'bob') =>
  linesReceived([{ type: 'system', content: commandNote(username, command) }])
const said = (actions: Action[]) =>
  exported(actions, true).log.actions.flatMap(({ type, payload }) =>
    type === 'console/linesReceived' ? (payload as string[]) : [],
  )

test.each([`setkey ${SECRET}`, SECRET, `insert into t values ('${SECRET}')`, `set k ${SECRET}`, `a ${SECRET} b`])(
  'security 195: the command %p of another user, which the console shows, is masked, and its secret is hidden in all output',
  (command) => {
    expectHidden([shown(command)], /hunter2secret/, true)
    expectHidden(
      [lines(`early ${SECRET}`), shown(command), lines(`You said ${SECRET}`, btoa(SECRET))],
      /hunter2|aHVudGVy/,
      true,
    )
  },
)

test.each(['login X', 'register X X', 'rcon X', 'authme register ann X', 'pw X'])(
  'the secret in the command %p of another user, which the console did not show, is hidden where the program repeats it',
  (template) => {
    for (const secret of [SECRET, 'ZvotuvPhave', '76873723', 'swordfish']) {
      const command = template.replaceAll('X', secret)
      const echo = lines(`You said: ${command}`, `b64 ${btoa(secret)}`, `url ${encodeURIComponent(command)}`)
      expectHidden([shown(COMMAND_NOT_SHOWN), echo], new RegExp(`${secret}|${btoa(secret).slice(2, -4)}`), true)
    }
  },
)

test('after a command that the console did not show, other lines stay', () => {
  const others = ['ann joined the game', 'Saved the world in 12 ms', '[12:00:01 INFO]: bob was slain by Zombie']
  expect(said([shown(COMMAND_NOT_SHOWN), lines(...others)]).slice(1)).toEqual(others.map((line) => `m${line}`))
})

test('the command of another user is masked in a line that the platform cut', () =>
  expectHidden(
    [linesReceived([{ type: 'system', content: `${commandNote('bob', `setkey ${SECRET}`).slice(0, -6)}…` }])],
    /hunter2secret/,
    true,
  ))

test('of the command of another user, what may be shown is kept', () => {
  expect(
    said([
      shown('setkey Kx7vqZ2mWp4'),
      shown('say hello'),
      shown('list'),
      lines('\u001b[2mINFO: server started\u001b[0m'),
    ]),
  ).toEqual([
    's\u001b[2mbob: setkey ••• (18 characters)\u001b[0m',
    's\u001b[2mbob: say hello\u001b[0m',
    's\u001b[2mbob: list\u001b[0m',
    'm\u001b[2mINFO: server started\u001b[0m',
  ])
})

test('the command of another user is masked in the lines that were kept of a crash', () => {
  const capsule = call('getCrashCapsule', { deployment: 'world', uid: 'u', crashedAt: 1 }, 'fulfilled', {
    exit: { code: 1, signal: null, at: 1, reason: 'Ended' },
    lines: [
      { seq: 1, type: 'system', content: commandNote('bob', `setkey ${SECRET}`) },
      { seq: 2, type: 'message', content: `got ${SECRET}` },
    ],
    cpu: [],
    memory: [],
  })
  expectNowhere(exported([capsule], true).text)
  expect(exported([capsule], true).text).toContain('bob: setkey •••')
})

test('a command that the definition declares harmless is no secret if the console shows it to others, too', () => {
  const { log } = exported([
    commandsLoaded([], ['claim']),
    commandSubmitted('claim area-51x', ['claim']),
    shown('claim area-51x', 'ann'),
    lines('area-51x is yours'),
  ])
  expect(log.actions[1]!.payload).toBe('claim area-51x')
  expect(said([commandsLoaded([], ['claim']), shown('claim area-51x', 'ann'), lines('area-51x is yours')])[1]).toBe(
    'marea-51x is yours',
  )
})

test('however much another user sends, only output is left out of an export', () => {
  const words = Array.from({ length: 1000 }, (_word, at) => `w${at}x${'y1'.repeat(3)}`).join(' ')
  const many = Array.from({ length: 150 }, (_command, at) => shown(`setkey ${at} ${words.slice(at)}`))
  const { text } = exported(
    [call('getFiles', '/nfsshare', 'fulfilled', { files: [{ name: 'notes.txt' }] }), ...many],
    true,
  )
  expect(text).toContain('notes.txt')
})
