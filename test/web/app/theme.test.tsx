import { readFileSync } from 'node:fs'
import { act, screen } from '@testing-library/react'
import { network } from '../../support/web/network'
import { renderApp } from '../../support/web/renderApp'

beforeEach(() => void network.get('/api/sftp/files').answers({ files: [], deploymentTypeIndex: null }))

const themeOfPage = () => document.documentElement.dataset.bsTheme

/** Mocks the color scheme preference of the system. */
function system({ dark }: { dark: boolean }) {
  const query = Object.assign(new EventTarget(), { matches: dark, media: '(prefers-color-scheme: dark)' })
  jest.spyOn(window, 'matchMedia').mockReturnValue(query as unknown as MediaQueryList)
  return {
    turns(matches: boolean) {
      query.matches = matches
      query.dispatchEvent(new Event('change'))
    },
  }
}

afterEach(() => {
  jest.restoreAllMocks()
  window.localStorage.clear()
})

test('the theme follows the system preference and its changes until the user chooses one', async () => {
  const preference = system({ dark: true })
  renderApp('/login')
  await screen.findByLabelText('Username')
  expect(themeOfPage()).toBe('dark')
  act(() => preference.turns(false))
  expect(themeOfPage()).toBe('light')
})

test('a chosen theme overrides the system preference and is stored', async () => {
  system({ dark: true })
  const { user, services } = renderApp('/files', { signedInAs: 'ann' })
  const light = await screen.findByRole('button', { name: 'Light theme' })
  expect(light).toHaveAttribute('aria-pressed', 'false')
  await user.click(light)
  expect(light).toHaveAttribute('aria-pressed', 'true')
  expect(themeOfPage()).toBe('light')
  expect(services.stored.get('theme')).toBe('light')

  await user.click(screen.getByRole('button', { name: 'Theme of the system' }))
  expect(themeOfPage()).toBe('dark')
})

test.each([
  ['dark', 'dark'],
  ['something else', 'light'],
])('a stored theme of %p is applied as %s', async (theme, shown) => {
  renderApp('/login', { stored: { theme } })
  await screen.findByLabelText('Username')
  expect(themeOfPage()).toBe(shown)
})

test.each([
  ['dark', false, 'dark'],
  ['light', true, 'light'],
  ['auto', true, 'dark'],
  [null, true, 'dark'],
  [null, false, 'light'],
])('before the first paint, a stored theme of %p with a dark system of %p gives %s', (choice, dark, shown) => {
  system({ dark })
  if (choice) window.localStorage.setItem('theme', choice)
  // jsdom does not run scripts here, but the function sees the globals of the page.
  // eslint-disable-next-line @typescript-eslint/no-implied-eval
  new Function(readFileSync('public/theme.js', 'utf8'))()
  expect(themeOfPage()).toBe(shown)
})
