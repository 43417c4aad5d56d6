import { act, screen, waitFor } from '@testing-library/react'
import { recorderOf } from '../../../src/web/actionLog/record/record'
import { replayReducer } from '../../../src/web/actionLog/replay/replayReducer'
import { complete, takeStep } from '../../../src/web/actionLog/replay/steps'
import { filterTyped } from '../../../src/web/features/files/filesSlice'
import { commandSubmitted } from '../../../src/web/sockets/consoleSlice'
import { network } from '../../support/web/network'
import { renderApp } from '../../support/web/renderApp'
import { savedLogs } from '../../support/web/savedLogs'
import { createTape } from '../../../src/web/actionLog/record/tape'
import {
  type Action,
  byKey,
  call,
  codeEntered,
  expectHidden,
  exported,
  later,
  lines,
  passwordEntered,
  SECRET,
} from '../../support/web/exportedLog'

test('a secret in the exported route is masked', async () => {
  const saved = savedLogs()
  network.get('/api/sftp/files').answers({ files: [], deploymentTypeIndex: null })
  const { store, user } = renderApp(`/files/${SECRET}`, { signedInAs: 'ann' })
  recorderOf(store)
  act(() => void store.dispatch(commandSubmitted(`setkey ${SECRET}`)))
  await user.keyboard('{Control>}{Shift>}[KeyL]{/Shift}{/Control}')
  await waitFor(() => expect(saved).toHaveLength(1))
  const { log } = saved[0]!
  expect(log.final.route).toMatch(/^\/files\/•+$/)
  expect(log.route).toBe(log.final.route)
})

test('the cache key of a download contains no secret', () =>
  expectHidden(
    [
      passwordEntered(SECRET),
      call('downloadFile', { path: `/nfsshare/${SECRET}`, name: SECRET, type: 'f' }, 'pending', undefined, {
        fixedCacheKey: `download /nfsshare/${SECRET}`,
      }),
    ],
    /hunter2secret/,
  ))

test.each<[string, Action[], RegExp]>([
  ['a code typed key by key', [codeEntered('773177'), ...byKey('773177')], /"773(?:1|17)"/],
  ['a password of 8 characters typed key by key', [passwordEntered('hunter2x'), ...byKey('hunter2x')], /"hunt[er]*"/],
  ['a password of 13 characters typed key by key', [passwordEntered(SECRET), ...byKey(SECRET)], /"hunter"/],
  [
    'a typo near the end',
    [passwordEntered(SECRET), ...byKey('hunter2secreX'), filterTyped('hunter2secre')],
    /hunter2secreX/,
  ],
  ['a missing letter', [passwordEntered(SECRET), filterTyped('huter2secret')], /huter2secret/],
  ['a deleted prefix', [passwordEntered(SECRET), filterTyped('unter2secret')], /unter2secret/],
  ['its suffix', [passwordEntered(SECRET), filterTyped('2secret')], /"2secret"/],
])('a secret typed into another field is masked: %s', (_what, actions, leak) => expectHidden(actions, leak))

test.each(['content', 'buffer', 'blocks', 'position', 'commands', 'session', 'deployment'])(
  'with the password %p the state keeps its property names, and no reducer throws',
  (word) => {
    const { log } = exported(
      [passwordEntered(word), lines('one'), commandSubmitted('list'), ...later, lines('two'), commandSubmitted('list')],
      true,
    )
    let state = complete(replayReducer, log.base)
    const thrown = log.actions.flatMap((action) => {
      const step = takeStep(replayReducer, state, action)
      state = step.state
      return step.thrown ?? []
    })
    expect(thrown).toEqual([])
    // A masked property name would reveal the password.
    expect(JSON.stringify(log.base)).not.toContain('•••')
  },
)

test('a filter text that looks like a secret is masked like a line of output', () =>
  expectHidden([filterTyped(`password=${SECRET}`)], /hunter2secret/))

test('a sign-in after thousands of unrecorded actions is recorded, and its password is masked', () => {
  const tape = createTape(() => 1000)
  const pass = tape.middleware({ dispatch: () => undefined as never, getState: () => undefined })((action) => action)
  const actions = [
    ...later,
    ...later,
    filterTyped(SECRET),
    passwordEntered(SECRET),
    { type: 'session/started', payload: { name: 'ann', isAdmin: false } },
  ]
  actions.forEach(pass)
  const handed: Action[] = []
  tape.handTo((_at, action) => handed.push(action), { action: (action) => action, state: () => undefined })
  expect(handed.at(-1)).toEqual(actions.at(-1))
  expectHidden([...handed, filterTyped(SECRET)], /hunter2secret/)
})

test('if there are too many secrets, all texts are masked, and the log still replays', () => {
  const many = Array.from({ length: 150 }, (_, index) =>
    commandSubmitted(`setkey ${`${index}-`.repeat(3000).slice(0, 10_000)}x${index}`),
  )
  expectHidden(
    [...many, commandSubmitted(`setkey ${SECRET}`), filterTyped(SECRET), commandSubmitted(`say ${SECRET}`)],
    /hunter2secret/,
  )
})

test('text that was typed into any field of the sign-in pages is masked even if the form was not submitted', async () => {
  network.get('/api/auth/methods').answers({ passkeys: false, openId: null })
  const { store, user } = renderApp('/register')
  await user.type(await screen.findByLabelText('Invite code'), SECRET)
  await user.click(screen.getByRole('link', { name: 'Sign In' }))
  await user.type(await screen.findByLabelText('Password'), 'other-word-1')
  recorderOf(store)
  await user.type(screen.getByLabelText('Password'), '234')
  act(() => void store.dispatch(lines(`one ${SECRET}`, 'two other-word-1', 'three other-word-1234', 'four')))
  expect(JSON.stringify(recorderOf(store).recording(true).actions.at(-1)!.payload)).toBe(
    JSON.stringify(['mone •••', 'mtwo •••', 'mthree •••', 'mfour']),
  )
})

test('a new password is masked even if the form was not submitted', async () => {
  const saved = savedLogs()
  network.get('/api/sftp/files').answers({ files: [], deploymentTypeIndex: null })
  const { store, user } = renderApp('/files', { signedInAs: 'ann' })
  recorderOf(store)
  await user.click(screen.getByRole('button', { name: 'Your account' }))
  await user.click(screen.getByRole('menuitem', { name: 'Change password' }))
  await user.type(await screen.findByLabelText('New password'), SECRET)
  await user.clear(screen.getByLabelText('New password'))
  await user.type(screen.getByLabelText('New password'), 'other-word-1')
  await user.keyboard('{Escape}')
  act(
    () =>
      void [store.dispatch(commandSubmitted(`say ${SECRET}`)), store.dispatch(commandSubmitted('say other-word-1'))],
  )
  await user.keyboard('{Control>}{Shift>}[KeyL]{/Shift}{/Control}')
  await waitFor(() => expect(saved).toHaveLength(1))
  expect(JSON.stringify(saved[0]!.log)).not.toMatch(/hunter2secret|other-word/)
})

test('what looks like a secret and was typed into a field outside of the store is hidden in the output', async () => {
  network.get('/api/sftp/files').answers({ files: [], deploymentTypeIndex: null })
  const { store, user, network: answered } = renderApp('/', { signedInAs: 'ann' })
  answered.shows([])
  await screen.findByRole('heading', { name: 'Network Overview' })
  recorderOf(store)
  await user.keyboard('{Control>}k{/Control}')
  const field = await screen.findByRole('combobox')
  await user.type(field, SECRET)
  await user.clear(field)
  await user.type(field, 'files')
  act(() => void store.dispatch(lines(`it is ${SECRET}`, 'it has files')))
  expect(recorderOf(store).recording(true).actions.at(-1)!.payload).toEqual(['mit is •••', 'mit has files'])
})
