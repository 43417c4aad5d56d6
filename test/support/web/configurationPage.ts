import { screen } from '@testing-library/react'
import { aceEditor } from './aceEditor'
import { renderApp } from './renderApp'

export const stored = 'name: lobby\ntype: process\ndataDirectory: /lobby\nrun:\n  command: [node, bot.js]\n'
/** With a setting that a deployment does not have. */
export const broken = `${stored}colour: red\n`

/** Renders the editor of the configuration of `lobby`. */
export async function configurationPage(content = stored, more: { warnings?: string[]; revision?: string } = {}) {
  const app = renderApp('/deployments/lobby/edit', { signedInAs: 'ann' })
  const load = app.network.get('/api/deployments/lobby').answers({ content, ...more })
  const save = app.network.patch('/api/deployments/lobby').answers({})
  // Requested after a save.
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
