import { render, screen } from '@testing-library/react'
import userEvent from '@testing-library/user-event'
import { Link, MemoryRouter } from 'react-router-dom'
import { PageBoundary } from '../../../src/web/app/PageBoundary'

function Broken({ broken }: { broken: boolean }) {
  if (broken) throw new Error('internal detail')
  return <h1>Fine</h1>
}

beforeEach(() => jest.spyOn(console, 'error').mockImplementation(() => {}))
afterEach(() => jest.restoreAllMocks())

test('a page that breaks shows a way on and nothing of what broke', () => {
  render(
    <MemoryRouter>
      <PageBoundary>
        <Broken broken />
      </PageBoundary>
    </MemoryRouter>,
  )
  expect(screen.getByRole('alert')).toHaveTextContent('Something went wrong')
  expect(screen.getByRole('button', { name: 'Reload page' })).toBeVisible()
  expect(screen.getByRole('link', { name: 'Return Home' })).toHaveAttribute('href', '/')
  expect(screen.queryByText(/internal detail/)).not.toBeInTheDocument()
})

test('the next page starts afresh', async () => {
  const { rerender } = render(<Pages broken />)
  expect(screen.getByRole('alert')).toBeVisible()
  rerender(<Pages broken={false} />)
  expect(screen.getByRole('alert')).toBeVisible()
  await userEvent.click(screen.getByRole('link', { name: 'Elsewhere' }))
  expect(screen.getByRole('heading', { name: 'Fine' })).toBeVisible()
})

function Pages({ broken }: { broken: boolean }) {
  return (
    <MemoryRouter>
      <Link to="/elsewhere">Elsewhere</Link>
      <PageBoundary>
        <Broken broken={broken} />
      </PageBoundary>
    </MemoryRouter>
  )
}
