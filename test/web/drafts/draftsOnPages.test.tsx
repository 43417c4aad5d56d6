import { act, fireEvent, screen, waitFor, within } from '@testing-library/react'
import type { FileEntry } from '../../../src/contract/file'
import { createReplayStore } from '../../../src/web/actionLog/replay/replayStore'
import { redactAction } from '../../../src/web/actionLog/redact/redactAction'
import { keeperOf } from '../../../src/web/drafts/keepDrafts'
import { aceEditor } from '../../support/web/aceEditor'
import { deploymentOf, entryOf } from '../../support/web/factories'
import { filesPage } from '../../support/web/filesPage'
import { renderApp } from '../../support/web/renderApp'
import { fakeDrafts } from '../../support/web/services'

const CONTENT = '/api/sftp/file/content'
const button = (name: string) => within(screen.queryByRole('dialog') ?? document.body).getByRole('button', { name })
const offer = (text: RegExp) => within(screen.queryByRole('dialog') ?? document.body).findByText(text)
/** Ends the page without a prompt, as a crash or a reload does. */
const end = (app: { leave: () => void }) => act(() => app.leave())

describe('a file draft', () => {
  async function editing(
    drafts: ReturnType<typeof fakeDrafts>,
    { name = 'lobby.yml', content = 'a: 1', modifyTime = 1000, others = [] as FileEntry[] } = {},
  ) {
    const app = await filesPage([entryOf(name), ...others], { drafts: drafts.database })
    app.network.get(CONTENT).answers({ content, encoding: 'utf-8', modifyTime })
    app.network.patch(CONTENT).answers({ modifyTime: modifyTime + 1 })
    return { ...app, open: () => opened(app, name) }
  }
  async function opened({ user }: Awaited<ReturnType<typeof filesPage>>, name: string) {
    await user.click(await screen.findByRole('button', { name }))
    const dialog = await screen.findByRole('dialog', { name })
    await waitFor(() => expect(dialog.querySelector('.ace_editor')).toBeInTheDocument())
  }
  /** An earlier visit that ended while the file had unsaved changes. */
  async function earlierVisit(drafts: ReturnType<typeof fakeDrafts>) {
    const app = await editing(drafts)
    await app.open()
    aceEditor().type('typed ')
    end(app)
    await waitFor(() => expect(drafts.kept.size).toBe(1))
  }

  test('is offered at the next visit, restored against its original version, and deleted after saving', async () => {
    const drafts = fakeDrafts()
    await earlierVisit(drafts)
    const app = await editing(drafts)
    await app.open()
    expect(aceEditor().text()).toBe('a: 1')
    expect((await offer(/You have an unsaved text of/)).closest('p')).toHaveTextContent(
      'You have an unsaved text of lobby.yml (now)',
    )
    await app.user.click(button('Restore'))
    await waitFor(() => expect(aceEditor().text()).toBe('typed a: 1'))
    expect(screen.getByText('Unsaved changes')).toBeVisible()
    expect(screen.queryByText(/You have an unsaved text/)).toBeNull()
    const save = app.network.patch(CONTENT).answers({ modifyTime: 2000 })
    await app.user.click(button('Save Changes'))
    await waitFor(() => expect(save.calls[0]?.body).toMatchObject({ content: 'typed a: 1', modifyTime: 1000 }))
    await screen.findByText('Saved')
    end(app)
    await waitFor(() => expect(drafts.kept.size).toBe(0))
  })

  test('reports that the file changed on the server, and saving asks before overwriting', async () => {
    const drafts = fakeDrafts()
    await earlierVisit(drafts)
    const app = await editing(drafts, { content: 'b: 2', modifyTime: 5000 })
    await app.open()
    expect(await offer(/The file has changed since/)).toBeVisible()
    await app.user.click(button('Restore'))
    await waitFor(() => expect(aceEditor().text()).toBe('typed a: 1'))
    const save = app.network.patch(CONTENT).answers(409, { message: 'changed' })
    await app.user.click(button('Save Changes'))
    await screen.findByRole('dialog', { name: 'File Changed' })
    expect(save.calls[0]?.body).toMatchObject({ modifyTime: 1000 })
  })

  test('that is restored while a save is in flight stays, and its save does not overwrite what that save stored', async () => {
    const drafts = fakeDrafts()
    await earlierVisit(drafts)
    const app = await editing(drafts)
    await app.open()
    await offer(/You have an unsaved text of/)
    aceEditor().type('newer ')
    const first = app.network.patch(CONTENT).answersLater({ modifyTime: 2000 })
    await app.user.click(button('Save Changes'))
    await app.user.click(button('Restore'))
    await waitFor(() => expect(aceEditor().text()).toBe('typed a: 1'))
    const second = app.network.patch(CONTENT).answers(409, { message: 'changed' })
    first.release()
    await waitFor(() => expect(button('Save Changes')).toBeEnabled())
    await act(() => Promise.resolve())
    expect(aceEditor().text()).toBe('typed a: 1')
    expect(screen.getByText('Unsaved changes')).toBeVisible()
    expect(app.store.getState().files?.dialog).toMatchObject({ isChanged: true })
    await app.user.click(button('Save Changes'))
    await screen.findByRole('dialog', { name: 'File Changed' })
    expect(second.calls[0]?.body).toMatchObject({ content: 'typed a: 1', modifyTime: 1000 })
  })

  test('is offered before its file is opened and while another file is open', async () => {
    const drafts = fakeDrafts()
    await earlierVisit(drafts)
    const app = await editing(drafts, { name: 'other.yml', others: [entryOf('lobby.yml')] })
    expect(await offer(/You have an unsaved text of/)).toHaveTextContent('You have an unsaved text of lobby.yml')
    await app.open()
    expect((await offer(/You have an unsaved text of/)).parentElement).toHaveTextContent(
      'You have an unsaved text of lobby.yml',
    )
    expect(within(screen.getByRole('dialog')).queryByRole('button', { name: 'Restore' })).toBeNull()
    await app.user.click(button('Cancel'))
    await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull())
    app.network.get(CONTENT).answers({ content: 'a: 1', encoding: 'utf-8', modifyTime: 1000 })
    await app.user.click(button('Open'))
    await screen.findByRole('dialog', { name: 'lobby.yml' })
    expect(await screen.findByRole('button', { name: 'Restore' })).toBeVisible()
  })

  test('in whose place the next one appears is discarded alone by a double click', async () => {
    const drafts = fakeDrafts()
    for (const name of ['lobby.yml', 'other.yml']) {
      const app = await editing(drafts, { name })
      await app.open()
      aceEditor().type('typed ')
      end(app)
    }
    await waitFor(() => expect(drafts.kept.size).toBe(2))
    await editing(drafts)
    const first = async () => (await screen.findAllByRole('button', { name: 'Discard' }))[0]!
    fireEvent.click(await first(), { detail: 1 })
    await waitFor(() => expect(drafts.kept.size).toBe(1))
    fireEvent.click(await first(), { detail: 2 })
    fireEvent.click(button('Open'))
    expect(await screen.findByRole('dialog')).toBeVisible()
    expect(drafts.kept.size).toBe(1)
  })

  test('of a deleted file can be copied and discarded', async () => {
    const drafts = fakeDrafts()
    await earlierVisit(drafts)
    const app = await editing(drafts)
    app.network.get(CONTENT).answers(404, { message: 'There is no such file.' })
    await app.user.click(button('Open'))
    expect(await screen.findByText('Failed to open file')).toBeVisible()
    const writeText = jest.spyOn(navigator.clipboard, 'writeText').mockResolvedValue()
    await app.user.click(button('Copy unsaved text'))
    expect(writeText).toHaveBeenCalledWith('typed a: 1')
    await app.user.click(button('Discard'))
    await waitFor(() => expect(drafts.kept.size).toBe(0))
  })

  test('is deleted when the user discards changes on closing the editor', async () => {
    const drafts = fakeDrafts()
    const app = await editing(drafts)
    await app.open()
    aceEditor().type('typed ')
    await app.user.click(button('Cancel'))
    await app.user.click(await screen.findByRole('button', { name: 'Discard changes' }))
    end(app)
    // A draft would have been written by then.
    await drafts.database.read()
    expect(drafts.kept.size).toBe(0)
  })

  test('appears in neither the state nor an action', async () => {
    const drafts = fakeDrafts()
    await earlierVisit(drafts)
    const app = await editing(drafts)
    const states: string[] = []
    app.store.subscribe(() => states.push(JSON.stringify(app.store.getState())))
    await app.open()
    await app.user.click(await screen.findByRole('button', { name: 'Restore' }))
    await waitFor(() => expect(aceEditor().text()).toBe('typed a: 1'))
    expect(states.length).toBeGreaterThan(0)
    expect(states.filter((state) => state.includes('typed a'))).toEqual([])
  })
})

describe('a configuration draft', () => {
  const stored = 'name: lobby\n'
  function editing(drafts: ReturnType<typeof fakeDrafts>, revision = 'r1', path = '/deployments/lobby/edit') {
    const app = renderApp(path, { signedInAs: 'ann', drafts: drafts.database })
    app.network.get('/api/deployments/lobby').answers({ content: stored, revision })
    app.network.get('/api/deployments').answers({ deployments: [deploymentOf('lobby')] })
    for (const engine of ['sql', 'mongo']) app.network.get(`/api/database/${engine}`).answers({ databases: [] })
    return app
  }
  async function earlierVisit(drafts: ReturnType<typeof fakeDrafts>) {
    const app = editing(drafts)
    await screen.findByRole('region', { name: 'Configuration' })
    aceEditor().write(`${stored}# mine\n`)
    end(app)
    await waitFor(() => expect(drafts.kept.size).toBe(1))
  }

  test('is offered on the deployments page, restored, and reports a newer saved version', async () => {
    const drafts = fakeDrafts()
    await earlierVisit(drafts)
    const app = editing(drafts, 'r2', '/deployments')
    expect(await offer(/You have unsaved changes to the configuration of lobby/)).toBeVisible()
    await app.user.click(screen.getByRole('link', { name: 'Open' }))
    await screen.findByRole('region', { name: 'Configuration' })
    expect(aceEditor().text()).toBe(stored)
    expect(await offer(/Another version has been saved since/)).toBeVisible()
    await app.user.click(button('Restore'))
    await waitFor(() => expect(aceEditor().text()).toBe(`${stored}# mine\n`))
    const save = app.network.patch('/api/deployments/lobby').answers(409, { message: 'changed', field: 'revision' })
    await app.user.click(button('Save Changes'))
    await screen.findByRole('dialog', { name: 'Configuration Changed' })
    expect(save.calls[0]?.body).toMatchObject({ revision: 'r1' })
  })

  test('is deleted when its text was saved before the page ended', async () => {
    const drafts = fakeDrafts()
    await earlierVisit(drafts)
    const app = renderApp('/deployments/lobby/edit', { signedInAs: 'ann', drafts: drafts.database })
    app.network.get('/api/deployments/lobby').answers({ content: `${stored}# mine\n`, revision: 'r2' })
    await screen.findByRole('region', { name: 'Configuration' })
    await waitFor(() => expect(drafts.kept.size).toBe(0))
    expect(screen.queryByRole('button', { name: 'Restore' })).toBeNull()
  })

  test('is deleted when the user discards changes on leaving the page', async () => {
    const drafts = fakeDrafts()
    const app = editing(drafts)
    await screen.findByRole('region', { name: 'Configuration' })
    aceEditor().write(`${stored}# mine\n`)
    await app.user.click(screen.getByRole('link', { name: 'Back' }))
    await app.user.click(await screen.findByRole('button', { name: 'Discard changes' }))
    await screen.findByRole('heading', { name: 'Deployments' })
    end(app)
    // A draft would have been written by then.
    await drafts.database.read()
    expect(drafts.kept.size).toBe(0)
  })

  test('is redacted like typed text when it is restored', () => {
    const redacted = JSON.stringify(
      redactAction({
        type: 'configuration/draftRestored',
        payload: { name: 'lobby', text: 'env: { TOKEN: hunter2 }', revision: 'canary' },
      }),
    )
    expect(redacted).toContain('lobby')
    expect(redacted).not.toMatch(/hunter2|canary/)
  })
})

describe('a form draft', () => {
  test('is offered when the form is opened again, and deleted when the user cancels the form', async () => {
    const drafts = fakeDrafts()
    const visit = async () => {
      const app = renderApp('/deployments', { signedInAs: 'ann', drafts: drafts.database })
      app.network.get('/api/deployments').answers({ deployments: [] })
      app.network.get('/api/network/nodes').answers({ nodes: ['node-1', 'node-2'] })
      await app.user.click(await screen.findByRole('button', { name: 'Create Deployment' }))
      await screen.findByRole('dialog', { name: 'Create Deployment' })
      return app
    }
    const first = await visit()
    await first.user.click(button('Scalable'))
    await first.user.type(screen.getByLabelText('Name'), 'my-lobby')
    end(first)
    await waitFor(() => expect(drafts.kept.size).toBe(1))

    const next = await visit()
    await offer(/You began to fill in this form/)
    await next.user.click(button('Restore'))
    expect(screen.getByLabelText('Name')).toHaveValue('my-lobby')
    expect(screen.getByLabelText('Name')).toHaveFocus()
    expect(button('Scalable')).toHaveAttribute('aria-pressed', 'true')
    expect(screen.queryByText(/You began to fill in/)).toBeNull()
    await next.user.click(button('Cancel'))
    await waitFor(() => expect(drafts.kept.size).toBe(0))
  })

  test('is not stored for a form with a password', async () => {
    const drafts = fakeDrafts()
    const app = renderApp('/databases', { signedInAs: 'ann', drafts: drafts.database })
    for (const engine of ['sql', 'mongo']) app.network.get(`/api/database/${engine}`).answers({ databases: [] })
    await app.user.click(await screen.findByRole('button', { name: 'Your account' }))
    await app.user.click(await screen.findByRole('menuitem', { name: 'Change password' }))
    const dialog = await screen.findByRole('dialog')
    for (const field of dialog.querySelectorAll('input'))
      fireEvent.change(field, { target: { value: 'canary-password' } })
    expect(dialog.querySelectorAll('input').length).toBeGreaterThan(1)
    end(app)
    await drafts.database.read()
    expect(drafts.kept.size).toBe(0)
  })
})

test('a replay store has no draft keeper', () => {
  expect(keeperOf(createReplayStore({}).store)).toBeUndefined()
})
