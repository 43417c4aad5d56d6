import { act, screen, within } from '@testing-library/react'
import type { Instance } from '../../../src/contract/instance'
import { instanceOf } from './factories'
import { renderApp } from './renderApp'

export const lobby = instanceOf('3fa2c1-lobby')
export const PATH = `/instance/lobby/${lobby.uid}`
export const CALL = '/api/deployments/lobby/instances'

/** Renders the page of an instance with its console connected. */
export async function instancePage(more: Partial<Instance> = {}, path = PATH) {
  const app = renderApp(path, { signedInAs: 'ann' })
  const call = app.network.get(CALL).answers({ instances: [instanceOf('77e0d4-lobby'), { ...lobby, ...more }] })
  await screen.findByRole('heading', { level: 1, name: lobby.name })
  act(() => app.console.listener?.opened())
  return { ...app, call }
}

export const card = (name: string) => screen.getByRole('region', { name })
export const power = () => screen.getByRole('group', { name: 'Power' })
export const buttonsIn = (group: HTMLElement) =>
  within(group)
    .getAllByRole('button')
    .map((button) => button.textContent)
