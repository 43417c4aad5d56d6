import { redactAction } from '../../../src/web/actionLog/redact/redactAction'
import { showState } from '../../../src/web/actionLog/record/devTools'
import { replayReducer } from '../../../src/web/actionLog/replay/replayReducer'
import { commandsLoaded, searched } from '../../../src/web/features/instance/instanceSlice'
import {
  commandRefused,
  commandSent,
  commandSubmitted,
  consoleLeft,
  consoleOpened,
  linesReceived,
  selectBuffer,
} from '../../../src/web/sockets/consoleSlice'
import { allLines } from '../../../src/web/sockets/lineBuffer'
import { inPane } from '../../../src/web/sockets/panes'
import { call, exported, expectNowhere, later, SECRET } from '../../support/web/exportedLog'
import { exportOf } from '../../support/web/secretLeaks'

type Action = { type: string }
const lobby = { deployment: 'lobby', podName: 'lobby-0' }
const survival = { deployment: 'survival', podName: 'survival-0' }
const line = (content: string) => linesReceived([{ type: 'message', content }])

/** Two consoles side by side, and the console of the instance page. */
const opened: Action[] = [
  consoleOpened(lobby),
  inPane(consoleOpened(lobby), 1),
  inPane(consoleOpened(survival), 2),
  inPane(commandsLoaded([`setkey ${SECRET}`]), 2),
]
const walk: Action[] = [
  ...opened,
  line('of the instance page'),
  inPane(line(`in pane one ${SECRET}`), 1),
  inPane(commandSubmitted(`setkey ${SECRET}`), 2),
  inPane(commandSent(), 2),
  inPane(searched(SECRET), 2),
]
const after = (actions: Action[]) => actions.reduce(replayReducer, replayReducer({}, { type: 'begun' }))
const linesOf = (state: object, pane?: 1 | 2) => allLines(selectBuffer(state, pane)).map(({ content }) => content)

test('an action changes only the console of its pane', () => {
  const state = after(walk)
  expect(linesOf(state)).toEqual(['of the instance page'])
  expect(linesOf(state, 1)).toEqual([`in pane one ${SECRET}`])
  expect(linesOf(state, 2)).toEqual([`> setkey ${SECRET}`])
})

test('a closed console has no state, and late actions for it create none', () => {
  const state = after([...walk, inPane(consoleLeft(), 2), inPane(line('late'), 2), inPane(commandRefused(), 2)])
  expect(Object.keys(state.consolePanes as object)).toEqual(['1'])
  expect(Object.keys(state.instancePanes as object)).toEqual(['1'])
})

test('an unknown pane in a file counts as the pane of the instance page', () => {
  const state = after([...opened, { ...line('x'), meta: { pane: '__proto__' } } as Action])
  expect(linesOf(state)).toEqual(['x'])
})

test('decisions §10: a log keeps the pane of an action, but no output and no command arguments of a pane', () => {
  expect(redactAction(inPane(commandSubmitted('setkey key'), 2))).toMatchObject({ meta: { pane: 2 } })
  const { text, log } = exported(walk)
  expectNowhere(text)
  expect(text).not.toContain('in pane one')
  expect(linesOf(log.final, 1)).toEqual(['…'])
  expect(linesOf(log.final, 2)).toEqual([expect.stringMatching(/^> setkey /)])
})

test('decisions §10: the base state contains no output and no command arguments of a pane', () => {
  const { text, log } = exported([...walk, ...later])
  expectNowhere(text)
  expect(text).not.toContain('in pane one')
  expect(linesOf(log.base, 1)).toEqual(['…'])
})

test('decisions §10: Redux DevTools receive no command arguments and no output of a pane', () => {
  const shown = JSON.stringify(showState(after([...walk, inPane(commandSubmitted(`setkey ${SECRET}`), 2)])))
  expect(shown).not.toContain(`setkey ${SECRET}`)
  expect(JSON.parse(shown)).toMatchObject({ consolePanes: { 1: { buffer: { lines: 1 } } } })
})

test('a secret that is split across lines of one console is hidden even if lines of other consoles come between them', () => {
  const password = call('login', { username: 'ann', password: SECRET }, 'pending')
  const capsule = (content: string) =>
    call('getCrashCapsule', { deployment: 'lobby', uid: 'u', crashedAt: 1 }, 'fulfilled', {
      lines: [{ seq: 1, type: 'message', content }],
    })
  const parts = ['it is hunt', 'er2s', 'ecret here'].flatMap((part) => [
    inPane(line(part), 1),
    inPane(line('another'), 2),
    line('of the instance page'),
    capsule('a crash'),
  ])
  for (const more of [[], later.slice(0, 1994), later]) {
    const text = exportOf([password, ...opened, ...parts, ...more], true)
    expect(text).not.toMatch(/hunt|er2s|ecret/)
    expect(text).toContain('another')
    expect(text).toContain('it is •••')
  }
})
