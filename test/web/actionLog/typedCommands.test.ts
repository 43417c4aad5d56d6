/** @jest-environment node */
import { filterTyped } from '../../../src/web/features/files/filesSlice'
import { createRecorder } from '../../../src/web/actionLog/record/recorder'
import { replayReducer } from '../../../src/web/actionLog/replay/replayReducer'
import { commandSent, commandSubmitted, linesReceived } from '../../../src/web/sockets/consoleSlice'
import { type Action, call, expectNowhere, exported, later, SECRET } from '../../support/web/exportedLog'

const recorded = (actions: Action[], output: boolean) => {
  const recorder = createRecorder(replayReducer({}, { type: 'begun' }), 1000, replayReducer)
  actions.forEach((action, index) => recorder.note(1000 + index * 10, action))
  return recorder.recording(output)
}
const typedAs = (actions: { type: string; payload?: unknown }[]) => actions.map(({ payload }) => payload)

const sent = (command: string) => [commandSubmitted(command), commandSent()]
test('in a harmless command, the words that say what it does and the names in responses are kept', () => {
  const instances = call('getInstances', 'world', 'fulfilled', [{ uid: 'u', name: 'world', players: { Ann_99: 'x' } }])
  const commands = [
    'say hello everyone',
    'whitelist add Ann_99',
    'whitelist add ann_99',
    'whitelist add Eve_77',
    'execute as Ann_99 run say it is 773177 now',
    'minecraft:gamemode CREATIVE @a',
    'say 150 165 156 164 145 162',
    'say aHVudGVyMnNlY3JldA==',
    'list',
    'claim area-51x',
  ].map((command) => ({ ...commandSubmitted(command), meta: { plainCommands: ['claim'] } }))
  const { log } = exported([instances, ...commands])
  expect(typedAs(log.actions.slice(1))).toEqual([
    'say •••',
    'whitelist add Ann_99',
    'whitelist add ann_99',
    'whitelist add •••',
    'execute as Ann_99 run say •••',
    'minecraft:gamemode creative @a',
    'say •••',
    'say •••',
    'list',
    'claim area-51x',
  ])
})

test.each([
  ['say thunder rain midnight store', 'say •••'],
  ['execute run say thunder rain midnight', 'execute run say •••'],
  ['/minecraft:kick Ann_99 thunder rain midnight', '/minecraft:kick Ann_99 •••'],
  ['title @a title Hun7er thunder midnight', 'title @a title •••'],
])('every word of the passphrase in %p is masked, even a word that is kept in other commands', (command, shown) => {
  const instances = call('getInstances', 'world', 'fulfilled', [{ uid: 'u', name: 'world', players: { Ann_99: 'x' } }])
  const actions = [instances, ...sent(command), linesReceived([{ type: 'message', content: `ann ${command}` }])]
  expect(typedAs(exported(actions).log.actions)[1]).toBe(shown)
  for (const more of [[], later]) expect(JSON.stringify(recorded([...actions, ...more], true))).not.toMatch(/midnight/)
})

test.each([
  ['say Habichts kauz 29 Moor', '...uz 29 Moor<--[HERE]', '...•••<--[HERE]'],
  ['say the door opens with Eisvogel 33 Teich', 'chat: vogel 33 T…', 'chat: •••…'],
  ['say the door opens with our garden keys', '...arden keys<--[HERE]', '...arden keys<--[HERE]'],
])('eight characters with a digit of the text in %p are hidden where a program shortens it', (command, said, shown) => {
  const { actions } = recorded([...sent(command), linesReceived([{ type: 'message', content: said }])], true)
  expect(actions.at(-1)?.payload).toEqual([`m${shown}`])
})

test('the echo of a command is masked like the command, with and without console output', () => {
  const { log } = exported([...sent(`say ${SECRET}`), ...later])
  const { buffer } = log.base.console as { buffer: { blocks: { type: string; content: string }[][] } }
  expect(buffer.blocks).toEqual([[{ type: 'command', content: '> say •••' }]])
  for (const actions of [sent(`say ${SECRET}`), [...sent(`say ${SECRET}`), ...later]]) {
    expectNowhere(exported(actions).text)
    expectNowhere(JSON.stringify(recorded(actions, true)))
  }
})

test('the typed words of commands are masked in the activity log, and the rest of its entries is kept', () => {
  const entry = { at: 1, username: 'ann', kind: 'command', action: 'sent command', address: '::1', succeeded: true }
  const subjects = [
    `world-1: say ${SECRET}`,
    `world-1: ${SECRET} ••• (${SECRET.length} characters)`,
    'world-1: claim ••• (14 characters)',
    'world-1: whitelist add on',
    'world-1',
  ]
  const entries = subjects.map((subject, id) => ({ ...entry, id, subject }))
  const actions = [
    call('getActivity', {}, 'fulfilled', { entries, hasMore: false }),
    commandSubmitted(`say ${SECRET}`),
    filterTyped(SECRET),
    call('getDeployments', undefined, 'fulfilled', [{ name: 'world' }]),
  ]
  const { text, log } = exported(actions)
  expectNowhere(text)
  expectNowhere(exported([...actions, ...later]).text)
  const shown = (log.actions[0]!.payload as { entries: { subject: string }[] }).entries.map(({ subject }) => subject)
  expect(shown).toEqual([
    'world-1: say •••',
    'world-1: ••• (13 characters)',
    'world-1: claim ••• (14 characters)',
    'world-1: whitelist add on',
    'world-1',
  ])
})
test('a command without a masked word is kept as it is, whatever secret a blank begins', () => {
  const plain = { ...commandSubmitted('claim area one'), meta: { plainCommands: ['claim'] } }
  const pasted = call('changePassword', { currentPassword: ' hunter2-of-ann', newPassword: 'x', code: '1' }, 'pending')
  const { log } = exported([pasted, plain, commandSubmitted('77-Qx 12')])
  expect(typedAs(log.actions.slice(1))).toEqual(['claim area one', '••• (8 characters)'])
})

test('the first word of a known passphrase that was entered as a command is masked', () => {
  const passphrase = call('login', { username: 'ann', password: 'Correct horse battery' }, 'pending')
  const { log, text } = exported([
    passphrase,
    commandSubmitted('correct horse battery'),
    commandSubmitted('corrector x'),
  ])
  expect(typedAs(log.actions.slice(1))).toEqual(['••• (21 characters)', 'corrector ••• (11 characters)'])
  expect(text).not.toMatch(/correct(?!or)/)
})
