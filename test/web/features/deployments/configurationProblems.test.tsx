import { screen, waitFor, within } from '@testing-library/react'
import { stored, broken, configurationPage } from '../../../support/web/configurationPage'

test('§14 warnings of a save are shown with its success until the next edit', async () => {
  const { network, editor, onSave } = await configurationPage()
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
  const { user, editor } = await configurationPage(stored, { warnings: [warning] })
  expect(screen.getByText(warning)).toBeVisible()
  editor.type('x')
  await waitFor(() => expect(screen.queryByText(warning)).toBeNull())
  editor.write(stored)
  await user.click(
    within((await screen.findByText(warning)).closest('.alert')!).getByRole('button', { name: 'Dismiss' }),
  )
  expect(screen.queryByText(warning)).toBeNull()
})

test('§8 a failed save shows the red banner, marks the line and keeps the text', async () => {
  const { network, user, editor, onSave } = await configurationPage()
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

test('the red banner and the line mark of a failed save disappear with the next edit', async () => {
  const { network, editor, onSave } = await configurationPage()
  network.patch('/api/deployments/lobby').answers(400, { message: 'Not here', line: 2 })
  await onSave()
  await screen.findByRole('alert')
  expect(editor.marks()).toEqual([{ line: 2, type: 'error', text: 'Not here' }])
  editor.write(`${stored}# better\n`)
  expect(screen.queryByRole('alert')).not.toBeInTheDocument()
  expect(editor.marks()).toEqual([])
})

test('§8 a failed save without a server message marks no line', async () => {
  const { network, editor, onSave } = await configurationPage()
  network.patch('/api/deployments/lobby').isUnreachable()
  await onSave()
  expect(await screen.findByRole('alert')).toHaveTextContent(
    'Failed to save deployment configuration contentThe server could not be reached.',
  )
  expect(editor.marks()).toEqual([])
})

test('decisions §4: definition errors are marked before saving, and Go to line moves the cursor there', async () => {
  const { user, editor } = await configurationPage()
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
  const { editor } = await configurationPage()
  await screen.findByText('No problems found')
  editor.write(stored.replace(was, becomes))
  expect(await screen.findByText(text)).toBeVisible()
  await waitFor(() => expect(editor.marks()).toMatchObject([{ line: Number(text[5]), type: 'warning' }]))
})

test('a warning does not prevent saving, because the server may know more settings', async () => {
  const { save, editor, onSave } = await configurationPage()
  editor.write(broken)
  await screen.findByText(/is not a setting/)
  await onSave()
  expect(await screen.findByText('Changes saved successfully!')).toBeVisible()
  expect(save.calls).toHaveLength(1)
})

test('Show changes shows the difference from the stored text', async () => {
  const { user, editor } = await configurationPage()
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
  const { user } = await configurationPage()
  await user.click(screen.getByRole('button', { name: 'Show changes' }))
  expect(within(await screen.findByRole('dialog')).getByText('No changes')).toBeVisible()
})

test('each of several definition errors is marked, and the first one is shown with the number of the others', async () => {
  const { network, editor, onSave } = await configurationPage()
  await screen.findByText('No problems found')
  editor.write('name: lobby\ntype: persistent\ncomand: a\ndataDirectory: lobby\n')
  const first = 'Line 3: comand: is not a setting of a deployment'
  const second = 'Line 4: dataDirectory: must be a path under the shared root such as /lobby'
  expect(await screen.findByText(/and 2 more/)).toHaveTextContent(`${first} (and 2 more)`)
  expect(editor.marks()).toContainEqual({ line: 3, type: 'warning', text: first })
  expect(editor.marks()).toContainEqual({ line: 4, type: 'warning', text: second })
  // The server reports one.
  network.patch('/api/deployments/lobby').answers(400, { message: first, line: 3 })
  await onSave()
  await screen.findByRole('alert')
  expect(editor.marks()).toContainEqual({ line: 3, type: 'error', text: first })
  expect(editor.marks()).toContainEqual({ line: 4, type: 'warning', text: second })
})
