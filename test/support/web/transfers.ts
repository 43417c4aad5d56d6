import { act, fireEvent, screen, waitFor, within } from '@testing-library/react'
import { selectUploadState } from '../../../src/web/features/files/uploads/uploadSlice'
import { entryOf } from './factories'
import { filesPage } from './filesPage'

export const file = (name: string, text = 'content') => new File([text], name)
export const panel = () => screen.findByRole('region', { name: 'Transfers' })
export const item = async (name: string) =>
  within(await panel())
    .getByText(name, { selector: 'bdi' })
    .closest('li')!
export const stored = (name: string) =>
  JSON.stringify({ success: true, data: { files: [{ name, path: `/nfsshare/${name}` }] } })
export const asked = () => screen.findByRole('dialog', { name: 'File Exists' })

/** Chooses files for an upload on the Files page with these entries in its directory. */
export async function uploading(files: File[], present = [entryOf('old.txt')], at = '/files') {
  const app = await filesPage(present, { at })
  const choose = (more: File[]) =>
    fireEvent.change(screen.getByLabelText('Files to upload'), { target: { files: more } })
  choose(files)
  await panel()
  const answer = (name: string, status: number, body: object | string) =>
    act(async () =>
      app.uploads.of(name).listener.answered(status, typeof body === 'string' ? body : JSON.stringify(body)),
    )
  const sends = (name: string) => waitFor(() => app.uploads.of(name))
  const names = () => app.uploads.requests.map((request) => request.name)
  const state = () => selectUploadState(app.store.getState())
  return { ...app, choose, answer, sends, names, state }
}
