import { act, screen, waitFor, within } from '@testing-library/react'
import { api } from '../../../../src/web/api/api'
import type { SessionEnd } from '../../../../src/web/facts'
import { sessionEnded, sessionStarted } from '../../../../src/web/facts'
import { aceEditor } from '../../../support/web/aceEditor'
import { stored, broken, configurationPage } from '../../../support/web/configurationPage'
import { deploymentOf, tokenOf } from '../../../support/web/factories'
import { navigate } from '../../../support/web/navigate'
import { renderApp } from '../../../support/web/renderApp'

test('typing creates a draft in the store, and undoing everything removes it', async () => {
  const { store, editor } = await configurationPage()
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

test('text typed while a save is in flight is kept as a draft', async () => {
  const { network, store, editor, onSave } = await configurationPage()
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

test('undoing everything while a save is in flight is kept as a draft, which undoes the save', async () => {
  const { network, store, editor, onSave } = await configurationPage()
  const { release } = network.patch('/api/deployments/lobby').answersLater({})
  const edited = `${stored}# more\n`
  editor.write(edited)
  await onSave()
  editor.write(stored)
  network.get('/api/deployments/lobby').answers({ content: edited })
  release()
  await waitFor(() =>
    expect(screen.getByRole('button', { name: 'Save Changes' })).toHaveAttribute('aria-busy', 'false'),
  )
  expect(editor.text()).toBe(stored)
  expect(store.getState().configuration?.drafts).toEqual({ lobby: { text: stored } })
  expect(screen.getByText('Unsaved changes')).toBeVisible()
})

test('undoing everything while a save is in flight that fails leaves no draft', async () => {
  const { network, store, editor, onSave } = await configurationPage()
  const { release } = network.patch('/api/deployments/lobby').answersLater(500)
  editor.write(`${stored}# more\n`)
  await onSave()
  editor.write(stored)
  release()
  await screen.findByRole('alert')
  expect(editor.text()).toBe(stored)
  expect(store.getState().configuration?.drafts).toEqual({})
})

test('switching to another deployment resets editor, undo history and banner', async () => {
  const { network, onSave } = await configurationPage()
  network.patch('/api/deployments/lobby').answers(503)
  network.get('/api/deployments/hub').answers({ content: 'name: hub\n' })
  await onSave()
  await screen.findByRole('alert')
  navigate('/deployments/hub/edit')
  await waitFor(() => expect(screen.getByRole('heading', { level: 1 })).toHaveTextContent('hub'))
  await screen.findByRole('region', { name: 'Configuration' })
  expect(screen.queryByRole('alert')).not.toBeInTheDocument()
  expect(aceEditor().text()).toBe('name: hub\n')
  aceEditor().undo()
  expect(aceEditor().text()).toBe('name: hub\n')
})

describe('a session that ends with unsaved changes', () => {
  /** Ends the session; `subject` signs in again and returns to the editor. */
  async function signInAgain(ended: SessionEnd, subject = 'ann') {
    const app = await configurationPage(stored, { revision: 'r1' })
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
      const { store } = await signInAgain(ended)
      await waitFor(() => expect(aceEditor().text()).toBe(broken))
      expect(store.getState().configuration?.drafts).toEqual({ lobby: { text: broken, revision: 'r1' } })
      expect(screen.getByText('Restored your unsaved changes to lobby')).toBeVisible()
    },
  )

  test.each([
    ['signedOut', 'ann'],
    ['expired', 'bob'],
  ] as const)('drops the changes when the session is %s and %s signs in next', async (ended, subject) => {
    const { store } = await signInAgain(ended, subject)
    expect(aceEditor().text()).toBe(stored)
    expect(store.getState().drafts?.offers).toEqual([])
  })
})

const theirs = `${stored}# theirs\n`
const mine = `${stored}# mine\n`

test('a draft keeps its base revision when newer revisions are fetched', async () => {
  const { network, store, user } = await configurationPage()
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
  const { network, user } = await configurationPage()
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

describe('a save that conflicts with another save', () => {
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
    const { textContent: footer } = within(dialog).getByRole('button', { name: 'Reload' }).parentElement!
    expect(footer).toBe('CancelReloadOverwrite')
    return {
      ...app,
      refused,
      editor,
      answer: (name: string) => app.user.click(within(dialog).getByRole('button', { name })),
    }
  }

  test('sends the base revision', async () => {
    const { refused } = await conflict()
    expect(refused.calls.map(({ body }) => body)).toEqual([{ content: mine, revision: 'one' }])
  })

  test('Cancel keeps the unsaved text, whose next save conflicts again', async () => {
    const { store, editor, answer, user } = await conflict()
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
    const { network, user, store } = await configurationPage()
    const refused = network
      .patch('/api/deployments/lobby')
      .answersLater(409, { message: 'Changed meanwhile', field: 'revision' })
    await user.click(screen.getByRole('button', { name: 'Save Changes' }))
    network.get('/api/deployments/hub').answers({ content: 'name: hub\n' })
    navigate('/deployments/hub/edit')
    await waitFor(() => expect(screen.getByRole('heading', { level: 1 })).toHaveTextContent('hub'))
    await screen.findByRole('region', { name: 'Configuration' })
    refused.release()
    await waitFor(() => expect(JSON.stringify(store.getState().api.mutations)).not.toContain('pending'))
    expect(store.getState().configuration?.dialog).toBeNull()
  })
})
