import { act, screen, waitFor, within } from '@testing-library/react'
import type { SessionEnd } from '../../../../src/web/facts'
import { sessionEnded, sessionStarted } from '../../../../src/web/facts'
import { aceEditor } from '../../../support/web/aceEditor'
import { entryOf, tokenOf } from '../../../support/web/factories'
import { notifications } from '../../../support/web/notifications'
import { CONTENT, dialogClosed, openEditor, question, stored } from '../../../support/web/fileEditor'

test('the editor closes without changes and asks for confirmation with changes', async () => {
  const { user, editor, press, store } = await openEditor()
  editor.type('x')
  await press('Cancel')
  const asked = await question('Close without saving?')
  await user.click(within(asked).getByRole('button', { name: 'Keep editing' }))
  await waitFor(() => expect(screen.queryByRole('dialog', { name: 'Close without saving?' })).not.toBeInTheDocument())
  expect(editor.text()).toMatch(/^x/)
  editor.undo()
  await waitFor(() => expect(store.getState().files?.dialog).toMatchObject({ isChanged: false }))
  await press('Cancel')
  await dialogClosed()
})

test('Discard changes closes the editor and saves nothing', async () => {
  const { user, editor, press, save } = await openEditor()
  editor.type('x')
  await press('Cancel')
  await user.click(within(await question('Close without saving?')).getByRole('button', { name: 'Discard changes' }))
  await dialogClosed()
  expect(save.calls).toEqual([])
})

test('typing after a save shows unsaved changes, even if undo merges it with the text before the save', async () => {
  const { editor, press, dialog } = await openEditor()
  editor.type('a')
  await press('Save Changes')
  await within(dialog).findByText('Saved')
  editor.type('b')
  expect(within(dialog).getByText('Unsaved changes')).toBeVisible()
})

test('text typed while a save is in flight stays unsaved', async () => {
  const { editor, press, dialog, network } = await openEditor()
  editor.type('a')
  const { release } = network.patch(CONTENT).answersLater({ modifyTime: 2 })
  await press('Save Changes')
  editor.type('b')
  release()
  await within(dialog).findByRole('button', { name: 'Save Changes' })
  expect(within(dialog).getByText('Unsaved changes')).toBeVisible()
})

test('closing the tab or navigating back with unsaved changes asks for confirmation', async () => {
  const { editor, user } = await openEditor()
  const closes = () => window.dispatchEvent(new Event('beforeunload', { cancelable: true }))
  expect(closes()).toBe(true)
  editor.type('x')
  expect(closes()).toBe(false)
  window.history.pushState({ idx: 1 }, '', '/files')
  window.history.pushState({ idx: 2 }, '', '/databases')
  act(() => void window.dispatchEvent(new PopStateEvent('popstate', { state: { idx: 2 } })))
  expect(await question('Close without saving?')).toBeVisible()
  await user.click(screen.getByRole('button', { name: 'Keep editing' }))
  expect(editor.text()).toMatch(/^x/)
})

test('discarding changes on logout from an expired session shows no error', async () => {
  const { network, editor, user, store } = await openEditor()
  network.post('/api/auth/logout').answers(401)
  editor.type('x')
  await user.click(screen.getByRole('button', { name: 'Logout', hidden: true }))
  await user.click(within(await question('Close without saving?')).getByRole('button', { name: 'Discard changes' }))
  expect(await screen.findByRole('heading', { name: 'Sign In' })).toBeVisible()
  expect(store.getState().notifications).toEqual([])
})

test('decisions §3: a file that changed meanwhile offers Reload, Overwrite and Cancel; Cancel keeps the text', async () => {
  const { user, editor, press, network, dialog } = await openEditor()
  editor.type('mine ')
  network.patch(CONTENT).answers(409, { code: 'CONFLICT', message: 'The file changed meanwhile' })
  await press('Save Changes')
  const asked = await question('File Changed')
  expect(
    within(asked)
      .getAllByRole('button')
      .map((one) => one.textContent)
      .filter(Boolean),
  ).toEqual(['Cancel', 'Reload', 'Overwrite'])
  await user.click(within(asked).getByRole('button', { name: 'Cancel' }))
  await waitFor(() => expect(screen.queryByRole('dialog', { name: 'File Changed' })).not.toBeInTheDocument())
  expect(editor.text()).toMatch(/^mine /)
  expect(within(dialog).getByRole('alert')).toHaveTextContent('The file changed since it was opened.')
})

test('Overwrite saves without the modification time', async () => {
  const { user, editor, press, network, dialog } = await openEditor()
  editor.type('mine ')
  network.patch(CONTENT).answers(409, { code: 'CONFLICT' })
  await press('Save Changes')
  const asked = await question('File Changed')
  const save = network.patch(CONTENT).answers({ modifyTime: 9 })
  await user.click(within(asked).getByRole('button', { name: 'Overwrite' }))
  await waitFor(() =>
    expect(save.calls[0]?.body).toEqual({
      path: '/nfsshare/server.properties',
      content: `mine ${stored}`,
      encoding: 'utf-8',
    }),
  )
  expect(await within(dialog).findByText('Saved')).toBeVisible()
})

test('Reload shows the current file, and a failed reload keeps the text', async () => {
  const { user, editor, press, network, dialog } = await openEditor()
  editor.type('mine ')
  network.patch(CONTENT).answers(409, { code: 'CONFLICT' })
  network.get(CONTENT).answers(503, { message: 'Not now' })
  await press('Save Changes')
  await user.click(within(await question('File Changed')).getByRole('button', { name: 'Reload' }))
  expect(await within(dialog).findByText('Not now')).toBeVisible()
  expect(aceEditor().text()).toMatch(/^mine /)

  network.get(CONTENT).answers({ content: 'theirs', encoding: 'utf-8', modifyTime: 7 })
  await user.click(within(dialog).getByRole('button', { name: 'Decide' }))
  await user.click(within(await question('File Changed')).getByRole('button', { name: 'Reload' }))
  await waitFor(() => expect(aceEditor().text()).toBe('theirs'))
  expect(within(dialog).queryByRole('alert')).not.toBeInTheDocument()
})

describe('a session that ends with unsaved changes', () => {
  const session = { id: 'next', isAdmin: false, subject: 'ann', expiresAt: Date.now() + 1e6 }
  /** Ends the session, signs in as `subject` and opens the file again. */
  async function again(
    app: Awaited<ReturnType<typeof openEditor>>,
    ended: SessionEnd,
    subject = 'ann',
    answer: object = { content: stored, encoding: 'utf-8', modifyTime: 1000 },
  ) {
    app.editor.type('x')
    expect(within(app.dialog).getByText('Unsaved changes')).toBeVisible()
    act(() => void app.store.dispatch(sessionEnded(ended)))
    await screen.findByRole('heading', { name: 'Sign In' })
    app.network.get(CONTENT).answers(answer)
    app.list([entryOf('server.properties')])
    app.network.get('/api/network').answers({ sections: [], managerSilent: false })
    app.services.jar.set('token', tokenOf(subject))
    act(() => void app.store.dispatch(sessionStarted({ ...session, subject })))
    await app.user.click(await screen.findByRole('link', { name: 'Files' }))
    await app.user.click(await screen.findByRole('button', { name: 'server.properties' }))
    await waitFor(() => expect(document.querySelector('.ace_editor')).toBeInTheDocument())
    return aceEditor()
  }

  test.each(['expired', 'refused', 'gone'] as const)(
    'restores the changes when the session is %s and the same user opens the file again',
    async (ended) => {
      const app = await openEditor()
      const editor = await again(app, ended)
      expect(editor.text()).toBe('xmotd=Hello\nport=25565\n# end')
      expect(screen.getByText('Unsaved changes')).toBeVisible()
      expect(notifications()).toEqual(['Restored your unsaved changes to server.properties'])
      await app.user.click(screen.getByRole('button', { name: 'Save Changes' }))
      await waitFor(() =>
        expect(app.save.calls[0]?.body).toEqual({
          path: '/nfsshare/server.properties',
          content: `x${stored}`,
          encoding: 'utf-8',
          modifyTime: 1000,
        }),
      )
    },
  )

  test('reports that the file changed in the meantime', async () => {
    const app = await openEditor()
    await again(app, 'expired', 'ann', { content: 'other', encoding: 'utf-8', modifyTime: 1500 })
    app.network.patch(CONTENT).answers(409, { message: 'changed' })
    await app.user.click(screen.getByRole('button', { name: 'Save Changes' }))
    await question('File Changed')
    await app.user.click(screen.getByRole('button', { name: 'Reload' }))
    await waitFor(() => expect(aceEditor().text()).toBe('other'))
  })

  test.each([
    ['signedOut', 'ann'],
    ['expired', 'bob'],
  ] as const)('drops the changes when the session is %s and %s signs in next', async (ended, subject) => {
    const editor = await again(await openEditor(), ended, subject)
    expect(editor.text()).toBe('motd=Hello\nport=25565\n# end')
    expect(notifications()).toEqual([])
  })
})
