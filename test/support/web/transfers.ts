import { screen, within } from '@testing-library/react'

export const file = (name: string, text = 'content') => new File([text], name)
export const panel = () => screen.findByRole('region', { name: 'Transfers' })
export const item = async (name: string) =>
  within(await panel())
    .getByText(name, { selector: 'bdi' })
    .closest('li')!
export const stored = (name: string) =>
  JSON.stringify({ success: true, data: { files: [{ name, path: `/nfsshare/${name}` }] } })
export const asked = () => screen.findByRole('dialog', { name: 'File Exists' })
