import { fireEvent, render, screen, within } from '@testing-library/react'
import { act } from 'react'
import type { ActionLog } from '../../../src/contract/actionLog'
import { logFileOf } from '../../../src/web/actionLog/export/exportLog'
import { showMutationsOfLog } from '../../../src/web/actionLog/replay/mutationsOfLog'
import { readLog } from '../../../src/web/actionLog/replay/readLog'
import { replayLog } from '../../../src/web/actionLog/replay/checkLog'
import { replayReducer } from '../../../src/web/actionLog/replay/replayReducer'
import { ReplayPlayer } from '../../../src/web/actionLog/ReplayPlayer'
import { recorderOf } from '../../../src/web/actionLog/record/record'
import { menuToggled } from '../../../src/web/app/routing/navigationSlice'
import { loadEarly } from '../../../src/web/chunks'
import { network } from '../../support/web/network'
import { installPasskeys, passkeyOptions, removePasskeys } from '../../support/web/passkeys'
import { renderApp } from '../../support/web/renderApp'

// The replay page does the same.
beforeAll(showMutationsOfLog)
beforeEach(() => jest.spyOn(console, 'warn').mockReturnValue())
afterEach(() => {
  jest.restoreAllMocks()
  removePasskeys()
})

type App = ReturnType<typeof renderApp>

/** Leaves the recorded page, and plays its log up to an action, the last one by default. */
async function replay(app: App, until?: string): Promise<ActionLog> {
  const log = readLog(logFileOf(app.store, false).text)
  app.leave()
  await loadEarly()
  render(<ReplayPlayer log={log} replay={replayLog(log, replayReducer)} onClose={() => {}} />)
  await jumpTo(until === undefined ? log.actions.length - 1 : log.actions.findLastIndex(({ type }) => type === until))
  return log
}

const jumpTo = (index: number) =>
  act(
    async () =>
      void fireEvent.change(screen.getByRole('slider', { name: 'Position' }), { target: { value: String(index) } }),
  )

async function enterPassword(): Promise<App> {
  network.shows([])
  network.get('/api/auth/methods').answers({ passkeys: true })
  network.post('/api/auth/login').answers({ sessionToken: 'the-step' })
  const app = renderApp('/login')
  recorderOf(app.store)
  await app.user.type(await screen.findByLabelText('Username'), 'anna')
  await app.user.type(screen.getByLabelText('Password'), 'the password')
  await app.user.click(screen.getByRole('button', { name: 'Sign In' }))
  await screen.findByRole('button', { name: 'Verify Code' })
  return app
}

test('a replay shows the form for a recovery code, and the reason why a code was rejected', async () => {
  const app = await enterPassword()
  await app.user.click(screen.getByRole('button', { name: 'Use a recovery code' }))
  network.post('/api/auth/verify-recovery-code').answers(400, { code: 'INVALID_CODE', message: 'This one is used.' })
  await app.user.type(await screen.findByLabelText('Recovery code'), 'AAAA-BBBB-CCCC-DDDD')
  await app.user.click(screen.getByRole('button', { name: 'Sign in with this code' }))
  await screen.findByText('This one is used.')
  await replay(app)
  expect(await screen.findByLabelText('Recovery code')).toBeVisible()
  expect(screen.getByText('This one is used.')).toBeVisible()
  expect(screen.queryByRole('button', { name: 'Use a recovery code' })).not.toBeInTheDocument()
})

test('the form for a recovery code closes when the user goes back to the password', async () => {
  const app = await enterPassword()
  await app.user.click(screen.getByRole('button', { name: 'Use a recovery code' }))
  await screen.findByLabelText('Recovery code')
  await app.user.click(screen.getByRole('button', { name: 'Back to Login' }))
  expect(screen.queryByLabelText('Recovery code')).not.toBeInTheDocument()
  await app.user.type(screen.getByLabelText('Password'), 'the password')
  await app.user.click(screen.getByRole('button', { name: 'Sign In' }))
  expect(await screen.findByRole('button', { name: 'Use a recovery code' })).toBeVisible()
  expect(screen.queryByLabelText('Recovery code')).not.toBeInTheDocument()
})

test('a replay shows the request for a passkey, and the reason why the passkey was rejected', async () => {
  installPasskeys()
  const app = await enterPassword()
  network.post('/api/auth/passkey-options').answers({ options: passkeyOptions })
  network.post('/api/auth/verify-passkey').answers(400, { code: 'BAD_CREDENTIALS', message: 'Not accepted.' })
  await app.user.click(screen.getByRole('button', { name: 'Use a passkey instead' }))
  await screen.findByText('Not accepted.')
  const log = await replay(app)
  expect(await screen.findByText('Not accepted.')).toBeVisible()
  const asked = log.actions.findLastIndex(({ type }) => type === 'api/executeMutation/pending')
  await jumpTo(asked)
  expect(await screen.findByRole('button', { name: 'Waiting for the browser...' })).toBeVisible()
})

test.each<[string, string, object, string, string]>([
  [
    'Add app',
    '/api/account/authenticators',
    { setup: 's', qrCode: 'data:image/png;base64,AAAA', secret: 'JBSWY3DPEHPK3PXP' },
    'Verification code',
    'JBSW',
  ],
  ['Add passkey', '/api/account/passkeys/options', { options: passkeyOptions }, 'Name', passkeyOptions.challenge],
])(
  'a replay shows the second step of the dialog "%s", without its secret',
  async (button, path, answer, label, secret) => {
    installPasskeys()
    network.get('/api/auth/methods').answers({ passkeys: true })
    network.get('/api/account/methods').answers({ passkeys: [], authenticators: [], recoveryCodes: 0 })
    network.get('/api/account/openid').answers({ connected: false, own: false })
    network.post('/api/account/proof').answers({ proof: 'the-proof' })
    network.post(path).answers(answer)
    const app = renderApp('/security', { signedInAs: '1' })
    recorderOf(app.store)
    await app.user.click(await screen.findByRole('button', { name: button }))
    const dialog = await screen.findByRole('dialog')
    await app.user.type(within(dialog).getByLabelText('Password'), 'the password')
    const field = within(dialog).queryByLabelText('Code')
    if (field) await app.user.type(field, '123456')
    await app.user.click(within(dialog).getByRole('button', { name: 'Continue' }))
    await within(screen.getByRole('dialog')).findByLabelText(label)
    const log = await replay(app)
    expect(await within(await screen.findByRole('dialog')).findByLabelText(label)).toBeVisible()
    expect(JSON.stringify(log)).not.toContain(secret)
    await jumpTo(log.actions.findIndex(({ type }) => type === 'security/dialogOpened'))
    expect(within(await screen.findByRole('dialog')).queryByLabelText(label)).not.toBeInTheDocument()
  },
)

test('in a replay, the export dialog shows the log as it was when the dialog was opened', async () => {
  const app = renderApp('/', { signedInAs: 'anna' })
  network.shows([])
  recorderOf(app.store)
  const exportLog = async () => {
    await app.user.click(screen.getByRole('button', { name: 'Your account' }))
    await app.user.click(await screen.findByRole('menuitem', { name: 'Export action log' }))
    return screen.findByRole('dialog')
  }
  const countsIn = (dialog: HTMLElement) => [
    dialog.querySelector('p')!.textContent.split(',')[0],
    ...within(dialog)
      .getAllByRole('row')
      .map((row) => row.textContent),
  ]
  await screen.findByRole('heading', { name: 'Network Overview' })
  // The page dispatches more actions while the dialog is rendered.
  const stop = app.store.subscribe(() => {
    if (app.store.getState().account?.dialog !== 'export') return
    stop()
    app.store.dispatch(menuToggled())
  })
  const first = countsIn(await exportLog())
  await app.user.keyboard('{Escape}')
  const second = countsIn(await exportLog())
  expect(first).not.toEqual(second)
  const log = await replay(app)
  expect(countsIn(await screen.findByRole('dialog'))).toEqual(second)
  const isOpened = ({ type }: { type: string }) => type === 'account/accountDialogOpened'
  await jumpTo(log.actions.findIndex(isOpened))
  expect(countsIn(await screen.findByRole('dialog'))).toEqual(first)
  await jumpTo(log.actions.findLastIndex(isOpened))
  expect(countsIn(await screen.findByRole('dialog'))).toEqual(second)
})
