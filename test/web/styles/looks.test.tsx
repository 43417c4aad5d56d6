import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { act, screen, waitFor, within } from '@testing-library/react'
import type { InstanceState } from '../../../src/contract/instance'
import { aceEditor } from '../../support/web/aceEditor'
import { deploymentOf, entryOf, instanceOf } from '../../support/web/factories'
import { filesPage } from '../../support/web/filesPage'
import { renderApp } from '../../support/web/renderApp'

const root = join(__dirname, '../../..')
const sheets = [
  'styles/main',
  'styles/layout',
  'features/deployments/configuration/configuration.module',
  'features/files/syncIndicator.module',
  'features/instance/console/log/log.module',
  'features/notifications/toasts.module',
]

/** The style sheets of the product as webpack compiles them, except that CSS module classes keep their names. */
beforeAll(() => {
  const style = document.createElement('style')
  style.textContent = execFileSync(
    process.execPath,
    [
      join(root, 'node_modules/sass/sass.js'),
      '--stdin',
      '--quiet',
      `--load-path=${root}/src/web`,
      `--load-path=${root}/node_modules`,
    ],
    {
      input: sheets.map((sheet) => `@import '${sheet}';`).join('\n'),
      encoding: 'utf8',
    },
  ).replace(/:global\(([^()]*)\)/g, '$1')
  document.head.append(style)
})

/** An inherited custom property; jsdom computes neither these nor `var()`. */
function inherited(element: Element, property: string): string {
  const value = getComputedStyle(element).getPropertyValue(property)
  return value || (element.parentElement ? inherited(element.parentElement, property) : '')
}

function styleOf(element: Element, property: string): string {
  let value = getComputedStyle(element).getPropertyValue(property) || inherited(element, property)
  for (let found = /var\((--[\w-]+)\)/.exec(value); found; found = /var\((--[\w-]+)\)/.exec(value))
    value = value.replace(found[0], inherited(element, found[1]!))
  return value
}

/** The everyday name of a color in the form `#rrggbb`. */
function nameOf(color: string): string {
  const [red = 0, green = 0, blue = 0] = (/^#(..)(..)(..)$/.exec(color)?.slice(1) ?? []).map((part) =>
    parseInt(part, 16),
  )
  const [high, low] = [Math.max(red, green, blue), Math.min(red, green, blue)]
  if (high - low < 40) return low > 225 ? 'light gray' : 'gray'
  if (high === green) return 'green'
  if (high === red) return green > 2 * blue + 40 ? 'amber' : 'red'
  return 'blue'
}

test('§2 the page is light gray, with a header above a centered area of at most 7xl', async () => {
  const { network } = renderApp('/', { signedInAs: 'ann' })
  network.shows([])
  const main = await screen.findByRole('main')
  expect(nameOf(styleOf(document.body, 'background-color'))).toBe('light gray')
  expect(screen.getByRole('banner').compareDocumentPosition(main)).toBe(Node.DOCUMENT_POSITION_FOLLOWING)
  // 7xl is 80 rem, 4 is 1 rem and 6 is 1.5 rem.
  expect(
    ['max-width', 'margin', 'padding'].map((property) => getComputedStyle(main).getPropertyValue(property)),
  ).toEqual(['80rem', '0px auto', '1.5rem 1rem'])
})

test('§2 notifications appear at the top right', async () => {
  renderApp('/nowhere', { signedInAs: 'ann' })
  const { position, top, right, left } = getComputedStyle(await screen.findByRole('region', { name: 'Notifications' }))
  expect({ position, top, right, left }).toEqual({ position: 'fixed', top: '4rem', right: '1rem', left: '' })
})

test('§2 the log window of the console is 500 pixels high', async () => {
  const { network } = renderApp('/instance/lobby/uid-3fa2c1-lobby', { signedInAs: 'ann' })
  network.get('/api/deployments/lobby/instances').answers({ instances: [instanceOf('3fa2c1-lobby')] })
  const log = await screen.findByRole('log', { name: 'Console output' })
  const window = [log, log.parentElement!].map((element) => getComputedStyle(element).height).find(Boolean)
  expect(window).toBe('500px')
})

test('§2 the active link is highlighted', async () => {
  const { network } = renderApp('/', { signedInAs: 'ann' })
  network.shows([])
  const color = (name: string) => getComputedStyle(screen.getByRole('link', { name })).color
  await screen.findByRole('navigation', { name: 'Main' })
  expect(color('Overview')).toBe('rgb(255, 255, 255)')
  expect(color('Files')).not.toBe(color('Overview'))
})

test.each<[InstanceState, string]>([
  ['STARTING', 'amber'],
  ['RUNNING', 'green'],
  ['BLOCKED', 'red'],
  ['STOPPING', 'amber'],
  ['STOPPED', 'gray'],
])('§3 the state %s is %s on the instance card and on the instance page', async (state, color) => {
  const { network, user } = renderApp('/', { signedInAs: 'ann' })
  network.shows([{ deployment: deploymentOf('lobby'), instances: [instanceOf('3fa2c1-lobby', { state })] }])
  const card = await screen.findByRole('link', { name: /3fa2c1-lobby/ })
  expect(nameOf(styleOf(card.querySelector('.state')!, '--dot'))).toBe(color)
  await user.click(card)
  const status = (await screen.findByRole('region', { name: 'Status' })).querySelector('.state')!
  expect(['color', '--dot'].map((property) => nameOf(styleOf(status, property)))).toEqual([color, color])
})

test('§2 the dot is green for an active deployment and gray for an inactive one', async () => {
  const { network } = renderApp('/deployments', { signedInAs: 'ann' })
  network
    .get('/api/deployments')
    .answers({ deployments: [deploymentOf('lobby'), deploymentOf('bot', { enabled: false })] })
  expect(nameOf(styleOf(await screen.findByText('Active'), '--dot'))).toBe('green')
  expect(nameOf(styleOf(screen.getByText('Inactive'), '--dot'))).toBe('gray')
})

test('§2 the sync indicator is amber and spins while the files are not synced', async () => {
  const { realtime, listing } = await filesPage([entryOf('a')])
  const looks = () => {
    const button = screen.getByRole('button', { name: /^Sync/ })
    return [nameOf(styleOf(button, 'color')), getComputedStyle(button.querySelector('.icon')!).animation]
  }
  act(() => void realtime.listener?.received({ id: 'CLIENT_FILE_SYNC', data: { event: 'sync_started' } }))
  expect(looks()).toEqual(['amber', expect.stringMatching(/infinite/)])
  act(() => void realtime.listener?.received({ id: 'CLIENT_FILE_SYNC', data: { event: 'sync_completed' } }))
  expect(looks()).toEqual(['green', 'none'])
  await waitFor(() => expect(listing.calls).toHaveLength(2))
})

test('the configuration status line shows icon and text side by side, without styles of the problem log', async () => {
  const { network } = renderApp('/deployments/lobby/edit', { signedInAs: 'ann' })
  network.get('/api/deployments/lobby').answers({ content: 'name: lobby\n' })
  const line = (await within(await screen.findByRole('region', { name: 'Configuration' })).findByText('Saved'))
    .parentElement!
  const status = within(line).getByRole('status')
  expect([styleOf(status, 'display'), styleOf(status, 'justify-content')]).toEqual(['flex', ''])
})

test('§2 the save banner is red on failure and green on success, and can be dismissed', async () => {
  const { network, user } = renderApp('/deployments/lobby/edit', { signedInAs: 'ann' })
  network.get('/api/deployments/lobby').answers({ content: 'name: lobby\n' })
  await screen.findByRole('region', { name: 'Configuration' })
  const banner = async (text: string, status: number | object) => {
    network.patch('/api/deployments/lobby').answers(status)
    aceEditor().type('#')
    await user.click(screen.getByRole('button', { name: 'Save Changes' }))
    return (await screen.findByText(text)).closest<HTMLElement>('.alert')!
  }
  const failed = await banner('Failed to save deployment configuration content', 503)
  expect(nameOf(styleOf(failed, 'color'))).toBe('red')
  await user.click(within(failed).getByRole('button', { name: 'Dismiss' }))
  expect(failed).not.toBeInTheDocument()
  const saved = await banner('Changes saved successfully!', {})
  expect(nameOf(styleOf(saved, 'color'))).toBe('green')
  await user.click(within(saved).getByRole('button', { name: 'Dismiss' }))
  await waitFor(() => expect(saved).not.toBeInTheDocument())
})
