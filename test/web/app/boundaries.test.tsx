import { render, screen, waitFor } from '@testing-library/react'
import userEvent from '@testing-library/user-event'
import { Provider } from 'react-redux'
import { Link, MemoryRouter } from 'react-router-dom'
import { PageBoundary } from '../../../src/web/app/layout/PageBoundary'
import { makeStore } from '../../../src/web/app/store'
import { savedLogs } from '../../support/web/savedLogs'
import { fakeConsole, fakeRealtime, fakeServices, fakeUploads } from '../../support/web/services'

const store = makeStore({
  ...fakeServices(),
  connectConsole: fakeConsole().connect,
  connectRealtime: fakeRealtime().connect,
  sendUpload: fakeUploads().send,
})

function Broken({ broken }: { broken: boolean }) {
  if (broken) throw new Error('internal detail')
  return <h1>Fine</h1>
}

beforeEach(() => jest.spyOn(console, 'error').mockImplementation(() => {}))
afterEach(() => jest.restoreAllMocks())

test('the page error boundary offers Reload and Return Home and shows no error details', () => {
  render(<Pages broken />)
  expect(screen.getByRole('alert')).toHaveTextContent('Something went wrong')
  expect(screen.getByRole('button', { name: 'Reload page' })).toBeVisible()
  expect(screen.getByRole('link', { name: 'Return Home' })).toHaveAttribute('href', '/')
  expect(screen.queryByText(/internal detail/)).not.toBeInTheDocument()
})

test('decisions §10: the page error boundary offers to export the action log', async () => {
  const saved = savedLogs()
  render(<Pages broken />)
  await userEvent.click(screen.getByRole('button', { name: 'Export action log' }))
  await waitFor(() => expect(saved).toHaveLength(1))
  expect(saved[0]).toMatchObject({
    name: expect.stringMatching(/^quarterdeck-action-log-\d{8}-\d{6}\.json$/),
    log: { format: 'quarterdeck-action-log', build: 'source' },
  })
})

test('the page error boundary resets on navigation', async () => {
  const { rerender } = render(<Pages broken />)
  expect(screen.getByRole('alert')).toBeVisible()
  rerender(<Pages broken={false} />)
  expect(screen.getByRole('alert')).toBeVisible()
  await userEvent.click(screen.getByRole('link', { name: 'Elsewhere' }))
  expect(screen.getByRole('heading', { name: 'Fine' })).toBeVisible()
})

function Pages({ broken }: { broken: boolean }) {
  return (
    <Provider store={store}>
      <MemoryRouter>
        <Link to="/elsewhere">Elsewhere</Link>
        <PageBoundary>
          <Broken broken={broken} />
        </PageBoundary>
      </MemoryRouter>
    </Provider>
  )
}
