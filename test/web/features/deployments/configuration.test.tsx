import { act, fireEvent, screen, waitFor, within } from '@testing-library/react'
import { api } from '../../../../src/web/api/api'
import type { SessionEnd } from '../../../../src/web/facts'
import { sessionEnded, sessionStarted } from '../../../../src/web/facts'
import { aceEditor } from '../../../support/web/aceEditor'
import { deploymentOf, instanceOf, tokenOf } from '../../../support/web/factories'
import { renderApp } from '../../../support/web/renderApp'

const stored = 'name: lobby\ntype: process\ndataDirectory: /lobby\nrun:\n  command: [node, bot.js]\n'
const broken = `${stored}colour: red\n`

async function opened(content = stored, more: { warnings?: string[]; revision?: string } = {}) {
  const app = renderApp('/deployments/lobby/edit', { signedInAs: 'ann' })
  const load = app.network.get('/api/deployments/lobby').answers({ content, ...more })
  const save = app.network.patch('/api/deployments/lobby').answers({})
  // Asked for after a save.
  app.network.get('/api/deployments').answers({ deployments: [] })
  await screen.findByRole('region', { name: 'Configuration' })
  return {
    ...app,
    load,
    save,
    editor: aceEditor(),
    onSave: () => app.user.click(screen.getByRole('button', { name: 'Save Changes' })),
  }
}

test("§2 the editor is titled with the name and reads 'Editing configuration file'; Back leads to /deployments", async () => {
  const { network, user, editor } = await opened()
  expect(screen.getByRole('heading', { level: 1, name: 'lobby' })).toBeVisible()
  expect(screen.getByText('Editing configuration file')).toBeVisible()
  expect(editor.text()).toBe(stored)
  network.get('/api/deployments').answers({ deployments: [] })
  await user.click(screen.getByRole('link', { name: 'Back' }))
  expect(await screen.findByRole('heading', { name: 'Deployments' })).toBeVisible()
  expect(window.location.pathname).toBe('/deployments')
})

test('security 122: the configuration of a deployment named constructor is edited and saved like any other', async () => {
  const content = stored.replaceAll('lobby', 'constructor')
  const { network, user } = renderApp('/deployments/constructor/edit', { signedInAs: 'ann' })
  network.get('/api/deployments/constructor').answers({ content })
  const save = network.patch('/api/deployments/constructor').answers({})
  network.get('/api/deployments').answers({ deployments: [] })
  await screen.findByRole('region', { name: 'Configuration' })
  const typed = `${content}description: typed\n`
  aceEditor().write(typed)
  expect(Object).not.toHaveProperty('text')
  await user.click(screen.getByRole('button', { name: 'Save Changes' }))
  await waitFor(() => expect(save.calls).toHaveLength(1))
  expect(save.calls[0]).toMatchObject({ body: { content: typed } })
})

test('#18 the page has a title of its own, and a breadcrumb', async () => {
  await opened()
  expect(document.title).toBe('lobby · Configuration · Quarterdeck')
  const way = screen.getByRole('navigation', { name: 'Breadcrumb' })
  expect(
    within(way)
      .getAllByRole('listitem')
      .map((step) => step.textContent),
  ).toEqual(['Deployments', 'lobby', 'Configuration'])
  expect(within(way).getByRole('link', { name: 'Deployments' })).toHaveAttribute('href', '/deployments')
})

test('#18 a saved configuration says when it applies, and offers a restart while instances run', async () => {
  const { network, user, onSave } = await opened()
  const deployment = { ...deploymentOf('lobby'), instances: [instanceOf('a1-lobby', { playerCount: 3, players: {} })] }
  network.get('/api/deployments').answers({ deployments: [deployment] })
  const { calls, release } = network.post('/api/deployments/lobby/restart').answersLater({})
  await onSave()
  const banner = (await screen.findByText('Changes saved successfully!')).closest('.alert')!
  const note = screen.getByText(/Applies at the next start of each instance\./)
  expect(banner.compareDocumentPosition(note)).toBe(Node.DOCUMENT_POSITION_FOLLOWING)

  await user.click(await screen.findByRole('button', { name: 'Restart now' }))
  const dialog = await screen.findByRole('dialog', { name: 'Restart lobby' })
  expect(dialog).toHaveTextContent('Restart 1 instance of lobby? 3 players are online; they are disconnected.')
  await user.click(within(dialog).getByRole('button', { name: 'Restart' }))
  expect(await screen.findByRole('button', { name: 'Restarting...' })).toHaveAttribute('aria-disabled', 'true')
  release()
  await screen.findByText('Successfully restarted lobby')
  expect(calls).toHaveLength(1)
})

test.each([
  ['no instance runs', { ...deploymentOf('lobby'), instances: [] }],
  ['the server does not send the instances', deploymentOf('lobby')],
])('#18 a saved configuration offers no restart when %s', async (_case, deployment) => {
  const { network, onSave } = await opened()
  const { calls } = network.get('/api/deployments').answers({ deployments: [deployment] })
  await onSave()
  await screen.findByText(/Applies at the next start/)
  await waitFor(() => expect(calls).toHaveLength(1))
  await act(() => new Promise<void>((drawn) => void requestAnimationFrame(() => drawn())))
  expect(screen.queryByRole('button', { name: 'Restart now' })).not.toBeInTheDocument()
})

test('#18 one Esc leaves the text, also with several cursors, and the page announces that key', async () => {
  const { user, editor } = await opened()
  const text = document.querySelector<HTMLElement>('.ace_text-input')!
  expect(text).toHaveAccessibleDescription('Esc, then Tab leaves the editor')
  editor.addCursor(2)
  expect(editor.cursors()).toBe(2)
  act(() => text.focus())
  await user.keyboard('{Escape}')
  expect(document.activeElement).toHaveClass('ace_scroller')
  expect(editor.cursors()).toBe(1)
  expect(editor.text()).toBe(stored)
  await user.tab()
  expect(document.querySelector('.ace_editor')).not.toContainElement(document.activeElement as HTMLElement)
})

test('typing creates a draft in the store, and undoing everything removes it', async () => {
  const { store, editor } = await opened()
  expect(screen.getByText('Saved')).toBeVisible()
  editor.type('x')
  expect(store.getState().configuration?.drafts).toEqual({ lobby: { text: `x${stored}` } })
  expect(screen.getByText('Unsaved changes')).toBeVisible()
  editor.undo()
  expect(store.getState().configuration?.drafts).toEqual({})
  editor.undo()
  // Loading the text is not an undo step: an undo must not lead to saving an empty file.
  expect(editor.text()).toBe(stored)
})

test("§2, §7 Save Changes sends the text, shows 'Changes saved successfully!' and keeps the text", async () => {
  const { network, store, save, load, editor, onSave } = await opened()
  editor.write(broken)
  // The refetch is still in flight: the editor must not fall back to the old text meanwhile.
  network.get('/api/deployments/lobby').answersLater({ content: broken })
  await onSave()
  expect(await screen.findByText('Changes saved successfully!')).toBeVisible()
  expect(save.calls.map(({ body }) => body)).toEqual([{ content: broken }])
  expect(editor.text()).toBe(broken)
  expect(store.getState().configuration?.drafts).toEqual({})
  expect(screen.getByText('Saved')).toBeVisible()
  expect(load.calls).toHaveLength(1)
})

test('§14 warnings of a save are shown with its success until the next edit', async () => {
  const { network, editor, onSave } = await opened()
  network
    .patch('/api/deployments/lobby')
    .answers({ revision: 'r2', warnings: ['run.port: port 25565 overlaps with port 25565 of the deployment "world".'] })
  editor.write(broken)
  network.get('/api/deployments/lobby').answers({ content: broken, revision: 'r2' })
  await onSave()
  expect(await screen.findByText('Changes saved successfully!')).toBeVisible()
  expect(screen.getByText(/overlaps with port 25565 of the deployment "world"/)).toBeVisible()
  editor.type('x')
  await waitFor(() => expect(screen.queryByText(/overlaps with/)).toBeNull())
})

test('§12 warnings about the stored text are shown until they are dismissed or the text is edited', async () => {
  const warning = 'resources.cpu (500m) is not enforced on this machine. Limits here: memory by prlimit.'
  const { user, editor } = await opened(stored, { warnings: [warning] })
  expect(screen.getByText(warning)).toBeVisible()
  editor.type('x')
  await waitFor(() => expect(screen.queryByText(warning)).toBeNull())
  editor.write(stored)
  await user.click(
    within((await screen.findByText(warning)).closest('.alert')!).getByRole('button', { name: 'Dismiss' }),
  )
  expect(screen.queryByText(warning)).toBeNull()
})

test('§2 the success banner disappears on Dismiss and on the next edit', async () => {
  const { network, user, editor, onSave } = await opened()
  editor.write(broken)
  network.get('/api/deployments/lobby').answers({ content: broken })
  await onSave()
  await screen.findByText('Changes saved successfully!')
  await user.click(screen.getByRole('button', { name: 'Dismiss' }))
  expect(screen.queryByText('Changes saved successfully!')).not.toBeInTheDocument()
  await onSave()
  await screen.findByText('Changes saved successfully!')
  editor.write(stored)
  expect(screen.queryByText('Changes saved successfully!')).not.toBeInTheDocument()
})

test.each([
  ['Ctrl', { ctrlKey: true }],
  ['Cmd', { metaKey: true }],
])('§2 %s+S saves with any focus and suppresses the browser default', async (_key, modifier) => {
  const { save, editor } = await opened()
  editor.write(broken)
  const passedOn = fireEvent.keyDown(document.body, { key: 's', ...modifier })
  expect(passedOn).toBe(false)
  expect(await screen.findByText('Changes saved successfully!')).toBeVisible()
  expect(save.calls).toHaveLength(1)
})

test('S without Ctrl, or with further modifiers, does not save', async () => {
  const { save, editor } = await opened()
  editor.write(broken)
  for (const modifiers of [
    {},
    { ctrlKey: true, shiftKey: true },
    { ctrlKey: true, altKey: true },
    { ctrlKey: true, repeat: true },
  ]) {
    fireEvent.keyDown(document.body, { key: 's', ...modifiers })
  }
  // The first save request carries the later text: the keys before did not save.
  editor.write(stored)
  fireEvent.keyDown(document.body, { key: 's', ctrlKey: true })
  await screen.findByText('Changes saved successfully!')
  expect(save.calls.map(({ body }) => body)).toEqual([{ content: stored }])
})

test('text typed while a save is in flight is kept as a draft', async () => {
  const { network, store, editor, onSave } = await opened()
  const { calls, release } = network.patch('/api/deployments/lobby').answersLater({})
  editor.write(broken)
  await onSave()
  expect(screen.getByRole('button', { name: 'Save Changes' })).toHaveAttribute('aria-busy', 'true')
  await onSave()
  editor.write(`${broken}# more\n`)
  network.get('/api/deployments/lobby').answers({ content: broken })
  release()
  await waitFor(() =>
    expect(screen.getByRole('button', { name: 'Save Changes' })).toHaveAttribute('aria-busy', 'false'),
  )
  expect(editor.text()).toBe(`${broken}# more\n`)
  expect(store.getState().configuration?.drafts).toEqual({ lobby: { text: `${broken}# more\n` } })
  expect(calls).toHaveLength(1)
})

test('§8 a failed save shows the red banner, marks the line and keeps the text', async () => {
  const { network, user, editor, onSave } = await opened()
  const message = 'Line 3: dataDirectory: must be a path under the shared root such as /lobby'
  network
    .patch('/api/deployments/lobby')
    .answers(400, { code: 'INVALID_DEFINITION', message, field: 'dataDirectory', line: 3 })
  const typed = stored.replace('/lobby', 'lobby')
  editor.write(typed)
  await onSave()
  const alert = await screen.findByRole('alert')
  expect(alert).toHaveTextContent('Failed to save deployment configuration content')
  expect(alert).toHaveTextContent(message)
  expect(editor.text()).toBe(typed)
  expect(editor.marks()).toEqual([{ line: 3, type: 'error', text: message }])
  expect(editor.cursorLine()).toBe(3)

  // Ace's worker reports its own findings at any time.
  editor.findings([{ row: 0, column: 0, type: 'error', text: 'of the worker' }])
  expect(editor.marks()).toEqual([{ line: 3, type: 'error', text: message }])

  await user.click(within(alert).getByRole('button', { name: 'Dismiss' }))
  expect(screen.queryByRole('alert')).not.toBeInTheDocument()
  expect(editor.text()).toBe(typed)
})

test('the red banner of a failed save disappears with the next edit', async () => {
  const { network, editor, onSave } = await opened()
  network.patch('/api/deployments/lobby').answers(400, { message: 'Not here', line: 2 })
  await onSave()
  await screen.findByRole('alert')
  editor.write(`${stored}# better\n`)
  expect(screen.queryByRole('alert')).not.toBeInTheDocument()
})

test('the line mark of a failed save disappears with the next edit', async () => {
  const { network, editor, onSave } = await opened()
  network.patch('/api/deployments/lobby').answers(400, { message: 'Not here', line: 2 })
  await onSave()
  await screen.findByRole('alert')
  expect(editor.marks()).toEqual([{ line: 2, type: 'error', text: 'Not here' }])
  editor.write(`${stored}# better\n`)
  expect(editor.marks()).toEqual([])
})

test('§8 a failed save without a server message marks no line', async () => {
  const { network, editor, onSave } = await opened()
  network.patch('/api/deployments/lobby').isUnreachable()
  await onSave()
  expect(await screen.findByRole('alert')).toHaveTextContent(
    'Failed to save deployment configuration contentThe server could not be reached.',
  )
  expect(editor.marks()).toEqual([])
})

test('decisions §4: definition errors are marked before saving, and Go to line moves the cursor there', async () => {
  const { user, editor } = await opened()
  await screen.findByText('No problems found')
  editor.write(broken)
  expect(await screen.findByText('Line 6: colour: is not a setting of a deployment')).toBeVisible()
  await waitFor(() =>
    expect(editor.marks()).toEqual([
      { line: 6, type: 'warning', text: 'Line 6: colour: is not a setting of a deployment' },
    ]),
  )
  expect(editor.cursorLine()).toBe(7)
  await user.click(screen.getByRole('button', { name: 'Go to line 6' }))
  expect(editor.cursorLine()).toBe(6)
  editor.write(stored)
  expect(await screen.findByText('No problems found')).toBeVisible()
  expect(editor.marks()).toEqual([])
})

test.each([
  ['name: lobby', 'name: hub', 'Line 1: name: is fixed after creation and must stay "lobby"'],
  ['type: process', 'type: scalable', 'Line 2: type: is fixed after creation and must stay "process"'],
])('decisions §4: a change of a fixed setting is reported before saving: %p to %p', async (was, becomes, text) => {
  const { editor } = await opened()
  await screen.findByText('No problems found')
  editor.write(stored.replace(was, becomes))
  expect(await screen.findByText(text)).toBeVisible()
  await waitFor(() => expect(editor.marks()).toMatchObject([{ line: Number(text[5]), type: 'warning' }]))
})

test('a warning does not prevent saving, because the server may know more settings', async () => {
  const { save, editor, onSave } = await opened()
  editor.write(broken)
  await screen.findByText(/is not a setting/)
  await onSave()
  expect(await screen.findByText('Changes saved successfully!')).toBeVisible()
  expect(save.calls).toHaveLength(1)
})

test('Show changes shows the difference from the stored text', async () => {
  const { user, editor } = await opened()
  editor.write(stored.replace('bot.js', 'main.js'))
  await user.click(screen.getByRole('button', { name: 'Show changes' }))
  const dialog = await screen.findByRole('dialog', { name: 'Changes to lobby' })
  expect(within(dialog).getByText('1 line added, 1 line removed, compared with the stored text')).toBeVisible()
  expect(
    within(dialog)
      .getAllByRole('row')
      .slice(1)
      .map((row) => row.textContent),
  ).toEqual([
    '11  name: lobby',
    '22  type: process',
    '33  dataDirectory: /lobby',
    '44  run:',
    '5- Removed:   command: [node, bot.js]',
    '5+ Added:   command: [node, main.js]',
  ])
})

test("Show changes reads 'No changes' for the stored text", async () => {
  const { user } = await opened()
  await user.click(screen.getByRole('button', { name: 'Show changes' }))
  expect(within(await screen.findByRole('dialog')).getByText('No changes')).toBeVisible()
})

test.each([
  ['with the server message', { message: 'The database is not reachable' }, 'The database is not reachable'],
  ['without details when the server sends none', {}, ''],
])(
  "§8 'Failed to load deployment configuration content' %s can be dismissed, and Retry refetches",
  async (_case, body, detail) => {
    const { network, user } = renderApp('/deployments/lobby/edit', { signedInAs: 'ann' })
    network.get('/api/deployments/lobby').answers(503, body)
    const alert = await screen.findByRole('alert')
    expect(alert.textContent).toBe(`Failed to load deployment configuration content${detail}`)
    expect(screen.getByRole('button', { name: 'Save Changes' })).toBeDisabled()
    await user.click(within(alert).getByRole('button', { name: 'Dismiss' }))
    expect(screen.queryByRole('alert')).not.toBeInTheDocument()
    network.get('/api/deployments/lobby').answers({ content: stored })
    await user.click(screen.getByRole('button', { name: 'Retry' }))
    expect(await screen.findByRole('region', { name: 'Configuration' })).toBeVisible()
  },
)

test('§8 a response without content is a failed load', async () => {
  const { network } = renderApp('/deployments/lobby/edit', { signedInAs: 'ann' })
  network.get('/api/deployments/lobby').answers({})
  expect(await screen.findByRole('alert')).toHaveTextContent('Failed to load deployment configuration content')
})

test("§8 a missing deployment shows 'Deployment not found' with a link back", async () => {
  const { network } = renderApp('/deployments/ghost/edit', { signedInAs: 'ann' })
  network.get('/api/deployments/ghost').answers(404, { message: 'There is no deployment named "ghost".' })
  expect(await screen.findByRole('heading', { name: 'Deployment not found' })).toBeVisible()
  expect(screen.getByRole('alert')).toHaveTextContent('Failed to load deployment configuration content')
  expect(screen.getByRole('link', { name: 'Back to Deployments' })).toHaveAttribute('href', '/deployments')
})

test('switching to another deployment resets editor, undo history and banner', async () => {
  const { network, onSave } = await opened()
  network.patch('/api/deployments/lobby').answers(503)
  network.get('/api/deployments/hub').answers({ content: 'name: hub\n' })
  await onSave()
  await screen.findByRole('alert')
  window.history.pushState({ idx: 2 }, '', '/deployments/hub/edit')
  act(() => void window.dispatchEvent(new PopStateEvent('popstate', { state: window.history.state })))
  await waitFor(() => expect(screen.getByRole('heading', { level: 1 })).toHaveTextContent('hub'))
  await screen.findByRole('region', { name: 'Configuration' })
  expect(screen.queryByRole('alert')).not.toBeInTheDocument()
  expect(aceEditor().text()).toBe('name: hub\n')
  aceEditor().undo()
  expect(aceEditor().text()).toBe('name: hub\n')
})

test('the editor shows a skeleton while the text loads', async () => {
  const { network } = renderApp('/deployments/lobby/edit', { signedInAs: 'ann' })
  const { release } = network.get('/api/deployments/lobby').answersLater({ content: stored })
  expect(await screen.findByText('Loading the configuration')).toBeInTheDocument()
  expect(screen.getByRole('heading', { level: 1, name: 'lobby' })).toBeVisible()
  release()
  expect(await screen.findByRole('region', { name: 'Configuration' })).toBeVisible()
})

describe('a session that ends with unsaved changes', () => {
  /** Ends the session; `subject` signs in again and returns to the editor. */
  async function again(ended: SessionEnd, subject = 'ann') {
    const app = await opened(stored, { revision: 'r1' })
    app.editor.write(broken)
    act(() => void app.store.dispatch(sessionEnded(ended)))
    expect(await screen.findByRole('heading', { name: 'Sign In' })).toBeVisible()
    expect(app.store.getState().configuration?.drafts).toEqual({})
    app.network.get('/api/network').answers({ sections: [], managerSilent: false })
    app.network.get('/api/deployments').answers({ deployments: [deploymentOf('lobby')] })
    for (const engine of ['sql', 'mongo']) app.network.get(`/api/database/${engine}`).answers({ databases: [] })
    app.services.jar.set('token', tokenOf(subject))
    act(
      () =>
        void app.store.dispatch(sessionStarted({ id: 'next', isAdmin: false, subject, expiresAt: Date.now() + 1e6 })),
    )
    if (ended === 'signedOut') {
      await app.user.click(await screen.findByRole('link', { name: 'Deployments' }))
      await app.user.click(await screen.findByRole('link', { name: 'Edit lobby' }))
    }
    await screen.findByRole('region', { name: 'Configuration' })
    return app
  }

  test.each(['refused', 'expired', 'gone'] as const)(
    'restores the changes on their base revision when the session is %s and the same user returns',
    async (ended) => {
      const { store } = await again(ended)
      await waitFor(() => expect(aceEditor().text()).toBe(broken))
      expect(store.getState().configuration?.drafts).toEqual({ lobby: { text: broken, revision: 'r1' } })
      expect(screen.getByText('Restored your unsaved changes to lobby')).toBeVisible()
    },
  )

  test.each([
    ['signedOut', 'ann'],
    ['expired', 'bob'],
  ] as const)('drops the changes when the session is %s and %s signs in next', async (ended, subject) => {
    const { store } = await again(ended, subject)
    expect(aceEditor().text()).toBe(stored)
    expect(store.getState().drafts?.offers).toEqual([])
  })
})

describe('a save that conflicts with another save', () => {
  const theirs = `${stored}# theirs\n`
  const mine = `${stored}# mine\n`

  async function conflict() {
    const app = renderApp('/deployments/lobby/edit', { signedInAs: 'ann' })
    app.network.get('/api/deployments/lobby').answers({ content: stored, revision: 'one' })
    const refused = app.network.patch('/api/deployments/lobby').answers(409, {
      code: 'CONFLICT',
      message: 'The configuration of "lobby" was changed since it was opened. Nothing was saved.',
      field: 'revision',
    })
    await screen.findByRole('region', { name: 'Configuration' })
    const editor = aceEditor()
    editor.write(mine)
    await app.user.click(screen.getByRole('button', { name: 'Save Changes' }))
    const dialog = await screen.findByRole('dialog', { name: 'Configuration Changed' })
    return {
      ...app,
      refused,
      editor,
      answer: (name: string) => app.user.click(within(dialog).getByRole('button', { name })),
    }
  }

  test('sends the base revision; Cancel keeps the unsaved text', async () => {
    const { refused, store, editor, answer, user } = await conflict()
    expect(refused.calls.map(({ body }) => body)).toEqual([{ content: mine, revision: 'one' }])
    await answer('Cancel')
    await waitFor(() => expect(screen.queryByRole('dialog')).not.toBeInTheDocument())
    expect(screen.getByRole('alert')).toHaveTextContent(
      'Failed to save deployment configuration contentThe configuration of "lobby" was changed',
    )
    expect(editor.text()).toBe(mine)
    expect(store.getState().configuration?.drafts).toEqual({ lobby: { text: mine, revision: 'one' } })
    await user.click(screen.getByRole('button', { name: 'Save Changes' }))
    expect(await screen.findByRole('dialog', { name: 'Configuration Changed' })).toBeVisible()
  })

  test('Reload shows the other text, and the next save is based on it', async () => {
    const { network, store, editor, answer, user } = await conflict()
    network.get('/api/deployments/lobby').answers({ content: theirs, revision: 'two' })
    await answer('Reload')
    await waitFor(() => expect(editor.text()).toBe(theirs))
    expect(screen.queryByRole('alert')).not.toBeInTheDocument()
    expect(store.getState().configuration?.drafts).toEqual({})
    const save = network.patch('/api/deployments/lobby').answers({ revision: 'three' })
    editor.write(mine)
    await user.click(screen.getByRole('button', { name: 'Save Changes' }))
    await screen.findByText('Changes saved successfully!')
    expect(save.calls.map(({ body }) => body)).toEqual([{ content: mine, revision: 'two' }])
  })

  test('Overwrite saves without a revision', async () => {
    const { network, answer } = await conflict()
    const save = network.patch('/api/deployments/lobby').answers({ revision: 'three' })
    network.get('/api/deployments/lobby').answers({ content: mine, revision: 'three' })
    await answer('Overwrite')
    expect(await screen.findByText('Changes saved successfully!')).toBeVisible()
    expect(save.calls.map(({ body }) => body)).toEqual([{ content: mine }])
  })

  test('shows no dialog after the user has left the editor', async () => {
    const { network, user, store } = await opened()
    const refused = network
      .patch('/api/deployments/lobby')
      .answersLater(409, { message: 'Changed meanwhile', field: 'revision' })
    await user.click(screen.getByRole('button', { name: 'Save Changes' }))
    network.get('/api/deployments/hub').answers({ content: 'name: hub\n' })
    window.history.pushState({ idx: 2 }, '', '/deployments/hub/edit')
    act(() => void window.dispatchEvent(new PopStateEvent('popstate', { state: window.history.state })))
    await waitFor(() => expect(screen.getByRole('heading', { level: 1 })).toHaveTextContent('hub'))
    await screen.findByRole('region', { name: 'Configuration' })
    refused.release()
    await waitFor(() => expect(JSON.stringify(store.getState().api.mutations)).not.toContain('pending'))
    expect(store.getState().configuration?.dialog).toBeNull()
  })

  test('a draft keeps its base revision when newer revisions are fetched', async () => {
    const { network, store, user } = await opened()
    network.get('/api/deployments/lobby').answers({ content: stored, revision: 'one' })
    act(() => void store.dispatch(api.util.invalidateTags(['Deployment'])))
    await waitFor(() => expect(JSON.stringify(store.getState().api)).toContain('"one"'))
    // Cache updates reach the page with the next frame.
    await act(() => new Promise<void>((drawn) => void requestAnimationFrame(() => drawn())))
    aceEditor().write(mine)
    network.get('/api/deployments/lobby').answers({ content: theirs, revision: 'two' })
    act(() => void store.dispatch(api.util.invalidateTags(['Deployment'])))
    await waitFor(() => expect(JSON.stringify(store.getState().api)).toContain('"two"'))
    const save = network.patch('/api/deployments/lobby').answers({})
    await user.click(screen.getByRole('button', { name: 'Save Changes' }))
    await screen.findByText('Changes saved successfully!')
    expect(save.calls.map(({ body }) => body)).toEqual([{ content: mine, revision: 'one' }])
  })

  test('text typed while a save is in flight is based on the saved revision', async () => {
    const { network, user } = await opened()
    const first = network.patch('/api/deployments/lobby').answersLater({ revision: 'two' })
    aceEditor().write(mine)
    await user.click(screen.getByRole('button', { name: 'Save Changes' }))
    aceEditor().write(`${mine}# more\n`)
    network.get('/api/deployments/lobby').answers({ content: mine, revision: 'two' })
    first.release()
    await waitFor(() =>
      expect(screen.getByRole('button', { name: 'Save Changes' })).toHaveAttribute('aria-busy', 'false'),
    )
    const second = network.patch('/api/deployments/lobby').answers({ revision: 'three' })
    await user.click(screen.getByRole('button', { name: 'Save Changes' }))
    await waitFor(() =>
      expect(second.calls.map(({ body }) => body)).toEqual([{ content: `${mine}# more\n`, revision: 'two' }]),
    )
  })
})
