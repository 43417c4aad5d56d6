import { act, fireEvent, render, screen, within } from '@testing-library/react'
import { recorderOf } from '../../../src/web/actionLog/record/record'
import { replayLog } from '../../../src/web/actionLog/replay/checkLog'
import { ReplayPlayer } from '../../../src/web/actionLog/ReplayPlayer'
import { replayReducer } from '../../../src/web/actionLog/replay/replayReducer'
import { writeLog } from '../../../src/web/actionLog/export/writeLog'
import '../../../src/web/app/routing/routes'
import { loadEarly } from '../../../src/web/chunks'
import { setClock } from '../../../src/web/ui/time/clock'
import { entryOf } from '../../support/web/factories'
import { network } from '../../support/web/network'
import { renderApp } from '../../support/web/renderApp'

const about = { build: 'test', exportedAt: 0, viewport: { width: 1440, height: 900 }, route: '/' }

beforeAll(() => void (Element.prototype.scrollIntoView = () => {}))
afterEach(() => setClock(() => Date.now()))

type App = ReturnType<typeof renderApp>
const press = async ({ user }: App, name: string) => user.click(await screen.findByRole('button', { name }))

test.each<[string, string, string, string, (app: App) => Promise<unknown>]>([
  [
    'an invite code without a message',
    '/admin?tab=invites',
    'Create',
    'Message cannot be empty',
    (app) => press(app, 'Create Invite Code'),
  ],
  [
    'a deployment without a name',
    '/deployments',
    'Create',
    'Deployment name is required',
    (app) => press(app, 'Create Deployment'),
  ],
  ['a file without a name', '/files', 'Create', 'Please enter a file name', (app) => press(app, 'Create New')],
  [
    'a new name that equals the old name',
    '/files',
    'Rename',
    'New name must be different',
    async (app) => {
      await press(app, 'Actions for notes.txt')
      await app.user.click(await screen.findByRole('menuitem', { name: 'Rename' }))
    },
  ],
  [
    'a move without a destination',
    '/files',
    'Move',
    'Please enter a destination',
    async (app) => {
      await app.user.click(await screen.findByRole('checkbox', { name: 'Select notes.txt' }))
      await press(app, 'Move')
    },
  ],
])(
  'decisions §10: a replay shows the validation error for %s after the rejected submit, and not before',
  async (_what, path, action, problem, open) => {
    network.get('/api/invite-codes').answers({ codes: [] })
    network.get('/api/deployments').answers({ deployments: [] })
    network.get('/api/network/nodes').answers({ nodes: ['node-a'] })
    network.get('/api/sftp/files').answers({ files: [entryOf('notes.txt')], deploymentTypeIndex: null })
    const app = renderApp(path, { signedInAs: 'ann', isAdmin: true })
    await open(app)
    const dialog = within(await screen.findByRole('dialog'))
    const before = recorderOf(app.store).recording().actions.length
    await app.user.click(dialog.getByRole('button', { name: action }))
    expect(dialog.getByText(problem)).toBeVisible()
    const log = writeLog(recorderOf(app.store).recording(), about, replayReducer)
    app.leave()

    await loadEarly()
    render(<ReplayPlayer log={log} replay={replayLog(log, replayReducer)} onClose={() => {}} />)
    const jumpTo = (index: number) =>
      act(
        async () =>
          void fireEvent.change(screen.getByRole('slider', { name: 'Position' }), { target: { value: String(index) } }),
      )
    await jumpTo(log.actions.length - 1)
    expect(await screen.findByText(problem)).toBeVisible()
    await jumpTo(before - 1)
    expect(screen.getByRole('dialog')).toBeVisible()
    expect(screen.queryByText(problem)).not.toBeInTheDocument()
  },
)
