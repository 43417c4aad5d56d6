import { act, screen, waitFor } from '@testing-library/react'
import { buildReplaced } from '../../../src/web/app/versionSlice'
import { aceEditor } from '../../support/web/aceEditor'
import { renderApp } from '../../support/web/renderApp'
import { fakeDrafts } from '../../support/web/services'

const unloads = () => window.dispatchEvent(new Event('beforeunload', { cancelable: true }))

test("a replaced build shows 'A new version is ready'; Reload waits until drafts are stored", async () => {
  const drafts = fakeDrafts()
  const app = renderApp('/deployments/lobby/edit', { signedInAs: 'ann', drafts: drafts.database })
  app.network.get('/api/deployments/lobby').answers({ content: 'name: lobby\n', revision: 'r1' })
  await screen.findByRole('region', { name: 'Configuration' })
  aceEditor().write('name: lobby\n# typed\n')
  expect(screen.queryByText(/A new version is ready/)).toBeNull()
  act(() => void app.store.dispatch(buildReplaced()))
  expect(screen.getByText(/A new version is ready/)).toBeVisible()
  expect(aceEditor().text()).toBe('name: lobby\n# typed\n')
  expect(unloads()).toBe(false)

  // jsdom cannot reload and logs an error.
  const reload = jest.spyOn(console, 'error').mockImplementation(() => {})
  await app.user.click(screen.getByRole('button', { name: 'Reload' }))
  await waitFor(() =>
    expect([...drafts.kept.values()].map(({ content }) => content['text'])).toEqual(['name: lobby\n# typed\n']),
  )
  await waitFor(() => expect(unloads()).toBe(true))
  await waitFor(() => expect(reload).toHaveBeenCalled())
  reload.mockRestore()
  // The user stayed on the page, for example because of running uploads.
  await waitFor(() => expect(unloads()).toBe(false))
})
