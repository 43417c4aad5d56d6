import { screen, waitFor, within } from '@testing-library/react'
import { aceEditor } from './aceEditor'
import { entryOf } from './factories'
import { filesPage } from './filesPage'

export const CONTENT = '/api/sftp/file/content'
/** The content of the file on the server, unless a test gives another. */
export const stored = 'motd=Hello\r\nport=25565\n# end'

/** Renders the Files page with one file and opens it in the editor. */
export async function openEditor(
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

export const dialogClosed = () => waitFor(() => expect(screen.queryByRole('dialog')).not.toBeInTheDocument())
/** The dialog that asks the user. */
export const question = (name: string) => screen.findByRole('dialog', { name })
