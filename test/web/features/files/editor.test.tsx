import { act, fireEvent, screen, waitFor, within } from '@testing-library/react'
import { decodeBytes } from '../../../../src/web/api/transport/decodeBytes'
import { heldTextCount } from '../../../../src/web/api/heldTexts'
import type { SessionEnd } from '../../../../src/web/facts'
import { sessionEnded, sessionStarted } from '../../../../src/web/facts'
import { canEncode } from '../../../../src/web/features/files/editor/encodings'
import { aceEditor } from '../../../support/web/aceEditor'
import { entryOf, tokenOf } from '../../../support/web/factories'
import { filesPage } from '../../../support/web/filesPage'
import { notifications } from '../../../support/web/notifications'

const CONTENT = '/api/sftp/file/content'
const stored = 'motd=Hello\r\nport=25565\n# end'

async function opened(
  answer: object = { content: stored, encoding: 'utf-8', modifyTime: 1000 },
  name = 'server.properties',
) {
  const app = await filesPage([entryOf(name)])
  const load = app.network.get(CONTENT).answers(answer)
  const save = app.network.patch(CONTENT).answers({ modifyTime: 2000 })
  await app.user.click(screen.getByRole('button', { name }))
  const dialog = await screen.findByRole('dialog', { name })
  await waitFor(() => expect(dialog.querySelector('.ace_editor')).toBeInTheDocument())
  const button = (label: string) => within(dialog).getByRole('button', { name: label })
  return {
    ...app,
    load,
    save,
    dialog,
    editor: aceEditor(),
    button,
    press: (label: string) => app.user.click(button(label)),
  }
}
const closed = () => waitFor(() => expect(screen.queryByRole('dialog')).not.toBeInTheDocument())
const question = (name: string) => screen.findByRole('dialog', { name })

test('§2, §7 a text file opens in the editor and Save Changes saves it', async () => {
  const { load, save, dialog, editor, press, button, network } = await opened()
  expect(new URLSearchParams(load.calls[0]?.query).get('path')).toBe('/nfsshare/server.properties')
  expect(editor.text()).toBe('motd=Hello\nport=25565\n# end')
  editor.type('x')
  expect(within(dialog).getByText('Unsaved changes')).toBeVisible()
  const { release, calls } = network.patch(CONTENT).answersLater({ modifyTime: 2000 })
  await press('Save Changes')
  expect(await within(dialog).findByRole('button', { name: 'Saving...' })).toHaveAttribute('aria-busy', 'true')
  release()
  expect(await within(dialog).findByText('Saved')).toBeVisible()
  expect(calls[0]?.body).toEqual({
    path: '/nfsshare/server.properties',
    content: `x${stored}`,
    encoding: 'utf-8',
    modifyTime: 1000,
  })
  expect(button('Save Changes')).toBeVisible()

  // The next save is based on the file as saved.
  network.patch(CONTENT).answers({ modifyTime: 3000 })
  const next = network.patch(CONTENT).answers({ modifyTime: 3000 })
  editor.type('y')
  await press('Save Changes')
  await waitFor(() => expect(next.calls[0]?.body).toMatchObject({ modifyTime: 2000 }))
  expect(save.calls).toEqual([])
})

test('file contents never enter the store', async () => {
  const { store, editor, press } = await opened({
    content: 'rcon.password=canary-secret',
    encoding: 'utf-8',
    modifyTime: 1,
  })
  const seen: string[] = []
  store.subscribe(() => seen.push(JSON.stringify(store.getState())))
  editor.type('typed-canary')
  await press('Save Changes')
  await screen.findByText('Saved')
  expect(seen.length).toBeGreaterThan(2)
  expect([...seen, JSON.stringify(store.getState())].filter((state) => state.includes('canary'))).toEqual([])
})

test.each([
  ['Ctrl', { ctrlKey: true }],
  ['Cmd', { metaKey: true }],
])('%s+S saves the file', async (_key, modifier) => {
  const { save, editor } = await opened()
  editor.type('x')
  expect(fireEvent.keyDown(document.body, { key: 's', ...modifier })).toBe(false)
  await waitFor(() => expect(save.calls).toHaveLength(1))
})

test('the editor says how to leave the text by keyboard', async () => {
  const { dialog } = await opened()
  expect(within(dialog).getByText('Esc, then Tab leaves the text. A second Esc closes the file.')).toBeVisible()
})

test.each(['utf-8-bom', 'utf-16le', 'windows-1252'] as const)(
  'decisions §3: a save keeps the encoding %p of the file',
  async (encoding) => {
    const { save, editor, press } = await opened({ content: 'é', encoding, modifyTime: 5 })
    editor.type('a')
    await press('Save Changes')
    await waitFor(() => expect(save.calls[0]?.body).toMatchObject({ content: 'aé', encoding }))
  },
)

test('a file that loads after its dialog was closed does not affect the next dialog', async () => {
  const { user, network } = await filesPage([entryOf('slow.txt'), entryOf('next.txt')])
  const slow = network.get(CONTENT).answersLater({ content: 'slow', encoding: 'utf-8', modifyTime: 1 })
  await user.click(screen.getByRole('button', { name: 'slow.txt' }))
  await waitFor(() => expect(slow.calls).toHaveLength(1))
  await user.keyboard('{Escape}')
  await closed()
  network.get(CONTENT).answers({ content: 'next', encoding: 'utf-8', modifyTime: 1 })
  await user.click(screen.getByRole('button', { name: 'next.txt' }))
  await waitFor(() => expect(document.querySelector('.ace_editor')).toBeInTheDocument())
  aceEditor().type('x')
  slow.release()
  await waitFor(() => expect(heldTextCount()).toBe(0))
  expect(screen.getByText('Unsaved changes')).toBeVisible()
  expect(aceEditor().text()).toBe('xnext')
})

describe('a session that ends with unsaved changes', () => {
  const session = { id: 'next', isAdmin: false, subject: 'ann', expiresAt: Date.now() + 1e6 }
  /** Ends the session, signs in as `subject` and opens the file again. */
  async function again(
    app: Awaited<ReturnType<typeof opened>>,
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
      const app = await opened()
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
    const app = await opened()
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
    const editor = await again(await opened(), ended, subject)
    expect(editor.text()).toBe('motd=Hello\nport=25565\n# end')
    expect(notifications()).toEqual([])
  })
})

test('a byte order mark is hidden in the editor and kept on save', async () => {
  const { save, editor, press } = await opened({ content: '\uFEFFa' })
  expect(editor.text()).toBe('a')
  editor.type('x')
  await press('Save Changes')
  await waitFor(() => expect(save.calls[0]?.body).toEqual({ path: '/nfsshare/server.properties', content: '\uFEFFxa' }))
})

test('a text that its encoding cannot represent is saved as UTF-8 with a notification', async () => {
  const { editor, press, dialog, save } = await opened({ content: 'é', encoding: 'windows-1252', modifyTime: 5 })
  expect(within(dialog).getByText('Windows-1252')).toBeVisible()
  editor.type('→')
  await press('Save Changes')
  expect(await within(dialog).findByText('UTF-8')).toBeVisible()
  expect(notifications()).toEqual(['Saved as UTF-8: Windows-1252 lacks some of its characters'])
  // The platform stores the file exactly in the encoding it receives.
  expect(save.calls[0]?.body).toMatchObject({ content: '→é', encoding: 'utf-8' })
})

test('canEncode knows the characters of windows-1252', () => {
  const latin1 = Buffer.from(Uint8Array.from({ length: 256 }, (_, byte) => byte)).toString('latin1')
  const others = '€‚ƒ„…†‡ˆ‰Š‹ŒŽ‘’“”•–—˜™š›œžŸ'
  expect(canEncode(latin1.replace(/[\x80-\x9f]/g, '') + others + '\x81\x8d\x8f\x90\x9d', 'windows-1252')).toBe(true)
  for (const lacking of ['→', 'Ā', '\u0080', '🚢']) expect(canEncode(lacking, 'windows-1252')).toBe(false)
  expect(canEncode('→', 'utf-8')).toBe(true)
})

test('§7 a byte array is decoded as UTF-8, or as windows-1252 if it is not valid UTF-8', async () => {
  expect(decodeBytes([0xc3, 0xa9])).toEqual({ text: 'é', encoding: 'utf-8' })
  expect(decodeBytes([0xe9, 0x61])).toEqual({ text: 'éa', encoding: 'windows-1252' })
  expect(decodeBytes([0xef, 0xbb, 0xbf, 0x61])).toEqual({ text: '\uFEFFa', encoding: 'utf-8' })
  const { editor } = await opened({ content: [...Buffer.from('naïve')] })
  expect(editor.text()).toBe('naïve')
})

test('the editor closes without changes and asks for confirmation with changes', async () => {
  const { user, editor, press, store } = await opened()
  editor.type('x')
  await press('Cancel')
  const asked = await question('Close without saving?')
  await user.click(within(asked).getByRole('button', { name: 'Keep editing' }))
  await waitFor(() => expect(screen.queryByRole('dialog', { name: 'Close without saving?' })).not.toBeInTheDocument())
  expect(editor.text()).toMatch(/^x/)
  editor.undo()
  await waitFor(() => expect(store.getState().files?.dialog).toMatchObject({ isChanged: false }))
  await press('Cancel')
  await closed()
})

test('Discard changes closes the editor and saves nothing', async () => {
  const { user, editor, press, save } = await opened()
  editor.type('x')
  await press('Cancel')
  await user.click(within(await question('Close without saving?')).getByRole('button', { name: 'Discard changes' }))
  await closed()
  expect(save.calls).toEqual([])
})

test('typing after a save shows unsaved changes, even if undo merges it with the text before the save', async () => {
  const { editor, press, dialog } = await opened()
  editor.type('a')
  await press('Save Changes')
  await within(dialog).findByText('Saved')
  editor.type('b')
  expect(within(dialog).getByText('Unsaved changes')).toBeVisible()
})

test('text typed while a save is in flight stays unsaved', async () => {
  const { editor, press, dialog, network } = await opened()
  editor.type('a')
  const { release } = network.patch(CONTENT).answersLater({ modifyTime: 2 })
  await press('Save Changes')
  editor.type('b')
  release()
  await within(dialog).findByRole('button', { name: 'Save Changes' })
  expect(within(dialog).getByText('Unsaved changes')).toBeVisible()
})

test('closing the tab or navigating back with unsaved changes asks for confirmation', async () => {
  const { editor, user } = await opened()
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
  const { network, editor, user, store } = await opened()
  network.post('/api/auth/logout').answers(401)
  editor.type('x')
  await user.click(screen.getByRole('button', { name: 'Logout', hidden: true }))
  await user.click(within(await question('Close without saving?')).getByRole('button', { name: 'Discard changes' }))
  expect(await screen.findByRole('heading', { name: 'Sign In' })).toBeVisible()
  expect(store.getState().notifications).toEqual([])
})

test('decisions §3: a file that changed meanwhile offers Reload, Overwrite and Cancel; Cancel keeps the text', async () => {
  const { user, editor, press, network, dialog } = await opened()
  editor.type('mine ')
  network.patch(CONTENT).answers(409, { code: 'CONFLICT', message: 'The file changed meanwhile' })
  await press('Save Changes')
  const asked = await question('File Changed')
  expect(
    within(asked)
      .getAllByRole('button')
      .map((one) => one.textContent)
      .filter(Boolean),
  ).toEqual(['Reload', 'Overwrite', 'Cancel'])
  await user.click(within(asked).getByRole('button', { name: 'Cancel' }))
  await waitFor(() => expect(screen.queryByRole('dialog', { name: 'File Changed' })).not.toBeInTheDocument())
  expect(editor.text()).toMatch(/^mine /)
  expect(within(dialog).getByRole('alert')).toHaveTextContent('The file changed since it was opened.')
})

test('Overwrite saves without the modification time', async () => {
  const { user, editor, press, network, dialog } = await opened()
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
  const { user, editor, press, network, dialog } = await opened()
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

test.each([
  ['with the server message', { message: 'The disk is full' }, 'Failed to save fileThe disk is full'],
  ['without details', {}, 'Failed to save file'],
])("§8 'Failed to save file' is shown %s and the text is kept", async (_case, body, text) => {
  const { editor, press, network, dialog } = await opened()
  editor.type('x')
  network.patch(CONTENT).answers(507, body)
  await press('Save Changes')
  expect((await within(dialog).findByRole('alert')).textContent).toBe(text)
  expect(editor.text()).toMatch(/^x/)
})

test.each([
  [413, 'The file is larger than 5 MB and cannot be edited.'],
  [415, 'The file is not a text.'],
])('a %p on opening a file shows the server message', async (status, message) => {
  const { network, user } = await filesPage([entryOf('a.txt')])
  network.get(CONTENT).answers(status, { message })
  await user.click(screen.getByRole('button', { name: 'a.txt' }))
  const alert = await screen.findByRole('alert')
  expect(alert).toHaveTextContent(message)
  expect(screen.getByRole('button', { name: 'Save Changes' })).toBeDisabled()
  await user.click(screen.getByRole('button', { name: 'Cancel' }))
  await closed()
})

test.each([
  ['a.yml', 'yaml'],
  ['a.json', 'json'],
  ['server.properties', 'properties'],
  ['a.toml', 'toml'],
  ['a.ini', 'ini'],
  ['start.sh', 'sh'],
  ['bot.js', 'javascript'],
  ['a.xml', 'xml'],
  ['latest.log', 'text'],
  ['README', 'text'],
  ['old.constructor', 'text'],
  ['old.__proto__', 'text'],
])('%s is edited in %s mode', async (name, mode) => {
  const { modeOf } = await import('../../../../src/web/features/files/editor/modes')
  expect(modeOf(name)).toBe(mode)
})
