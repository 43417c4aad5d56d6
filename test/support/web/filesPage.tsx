import { screen, within } from '@testing-library/react'
import type { FileEntry } from '../../../src/contract/file'
import type { DraftDatabase } from '../../../src/web/drafts/draftDatabase'
import { renderApp } from './renderApp'

type Options = { at?: string; deploymentTypeIndex?: number | null; drafts?: DraftDatabase }

/** Renders the Files page with these entries in its directory. */
export async function filesPage(
  files: FileEntry[],
  { at = '/files', deploymentTypeIndex = null, drafts }: Options = {},
) {
  const app = renderApp(at, { signedInAs: 'ann', ...(drafts && { drafts }) })
  const list = (entries: FileEntry[]) =>
    app.network.get('/api/sftp/files').answers({ files: entries, deploymentTypeIndex })
  const listing = list(files)
  if (files.length > 0) await screen.findByRole('grid')
  else await screen.findByText('This directory is empty')
  return { ...app, list, listing }
}

export const rows = () => screen.getAllByRole('row').slice(1)
export const row = (name: string) => {
  const found = rows().find((candidate) => candidate.querySelector('bdi')?.textContent === name)
  if (!found) throw new Error(`There is no row of ${name}`)
  return found
}
export const names = () => rows().map((candidate) => candidate.querySelector('bdi')?.textContent)
export const box = (name: string) => screen.getByRole('checkbox', { name: `Select ${name}` })
export const selected = () =>
  rows()
    .filter((candidate) => candidate.getAttribute('aria-selected') === 'true')
    .map((candidate) => candidate.querySelector('bdi')?.textContent)
export const bar = () => within(screen.getByRole('region', { name: 'Selection' }))
