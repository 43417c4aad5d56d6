import { fireEvent, screen, waitFor, within } from '@testing-library/react'
import { decodeBytes } from '../../../../src/web/api/transport/decodeBytes'
import { heldTextCount } from '../../../../src/web/api/heldTexts'
import { canEncode } from '../../../../src/web/features/files/editor/encodings'
import { aceEditor } from '../../../support/web/aceEditor'
import { entryOf } from '../../../support/web/factories'
import { filesPage } from '../../../support/web/filesPage'
import { notifications } from '../../../support/web/notifications'
import { CONTENT, dialogClosed, openEditor, stored } from '../../../support/web/fileEditor'

test('§2, §7 a text file opens in the editor and Save Changes saves it', async () => {
  const { load, save, dialog, editor, press, button, network } = await openEditor()
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
  const { store, editor, press } = await openEditor({
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
  const { save, editor } = await openEditor()
  editor.type('x')
  expect(fireEvent.keyDown(document.body, { key: 's', ...modifier })).toBe(false)
  await waitFor(() => expect(save.calls).toHaveLength(1))
})

test('the editor says how to leave the text by keyboard', async () => {
  const { dialog } = await openEditor()
  expect(within(dialog).getByText('Esc, then Tab leaves the text. A second Esc closes the file.')).toBeVisible()
})

test('the editor says what is wrong with the text, and goes to the line', async () => {
  const { dialog, editor, press } = await openEditor(
    { content: 'a: 1\nb: [\n', encoding: 'utf-8', modifyTime: 1 },
    'a.yml',
  )
  expect(within(dialog).queryByRole('button', { name: /^Go to line/ })).not.toBeInTheDocument()
  editor.findings([
    { row: 0, column: 0, type: 'info', text: 'A hint' },
    { row: 0, column: 0, type: 'warning', text: 'Unusual' },
    { row: 1, column: 3, type: 'error', text: 'Expected a value\n  b: [\n     ^' },
  ])
  expect(within(dialog).getByText('Expected a value (and 1 more)')).toHaveRole('status')
  await press('Go to line 2')
  expect(editor.cursorLine()).toBe(2)
  expect(dialog.querySelector('.ace_text-input')).toHaveFocus()
  editor.findings([])
  expect(within(dialog).queryByText(/Expected a value/)).not.toBeInTheDocument()
})

test.each(['utf-8-bom', 'utf-16le', 'windows-1252'] as const)(
  'decisions §3: a save keeps the encoding %p of the file',
  async (encoding) => {
    const { save, editor, press } = await openEditor({ content: 'é', encoding, modifyTime: 5 })
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
  await dialogClosed()
  network.get(CONTENT).answers({ content: 'next', encoding: 'utf-8', modifyTime: 1 })
  await user.click(screen.getByRole('button', { name: 'next.txt' }))
  await waitFor(() => expect(document.querySelector('.ace_editor')).toBeInTheDocument())
  aceEditor().type('x')
  slow.release()
  await waitFor(() => expect(heldTextCount()).toBe(0))
  expect(screen.getByText('Unsaved changes')).toBeVisible()
  expect(aceEditor().text()).toBe('xnext')
})

test('a byte order mark is hidden in the editor and kept on save', async () => {
  const { save, editor, press } = await openEditor({ content: '\uFEFFa' })
  expect(editor.text()).toBe('a')
  editor.type('x')
  await press('Save Changes')
  await waitFor(() => expect(save.calls[0]?.body).toEqual({ path: '/nfsshare/server.properties', content: '\uFEFFxa' }))
})

test('a text that its encoding cannot represent is saved as UTF-8 with a notification', async () => {
  const { editor, press, dialog, save } = await openEditor({ content: 'é', encoding: 'windows-1252', modifyTime: 5 })
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
  const { editor } = await openEditor({ content: [...Buffer.from('naïve')] })
  expect(editor.text()).toBe('naïve')
})

test.each([
  ['with the server message', { message: 'The disk is full' }, 'Failed to save fileThe disk is full'],
  ['without details', {}, 'Failed to save file'],
])("§8 'Failed to save file' is shown %s and the text is kept", async (_case, body, text) => {
  const { editor, press, network, dialog } = await openEditor()
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
  await dialogClosed()
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
