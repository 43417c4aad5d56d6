/** @jest-environment node */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { PAGE_PARAMETERS } from '../../../src/contract/pageRoutes'
import { routeChanged } from '../../../src/web/app/routing/routeSlice'
import { call, exported, files, later, SECRET } from '../../support/web/exportedLog'

type Action = ReturnType<typeof call>
const answered = (endpoint: string, args: unknown, answer: unknown): Action[] => [
  call(endpoint, args, 'pending'),
  call(endpoint, args, 'fulfilled', answer),
]
const activity = { pages: [{ entries: [{ username: 'ann', subject: 'lobby' }], hasMore: false }], pageParams: [null] }

/** The address of a page, and the calls that load its data. */
const pages: [string, Action[]][] = [
  ['/files/hub', answered('getFiles', '/nfsshare/hub', { files: [{ path: '/nfsshare/hub/a.txt', name: 'a.txt' }] })],
  ['/deployments/hub/edit', answered('getDeploymentConfig', 'hub', { content: 'name: hub\n', revision: 'r1' })],
  ['/instance/hub/u1-hub', answered('getInstances', 'hub', [{ uid: 'u1-hub', name: '0a1b2c-hub' }])],
  ['/admin/users/27', answered('getUserAccess', 27, { role: 'operator', grants: [] })],
  ['/admin?tab=invites', []],
  [
    '/activity?username=ann',
    [
      ...answered('getUsers', undefined, [{ id: 1, username: 'ann', is_admin: true }]),
      ...answered('getActivity', { username: 'ann', search: '' }, activity),
    ],
  ],
  ['/security?sso=identity-taken', []],
  ['/login?sso=no-role', []],
]

test.each(pages)(
  'an exported log keeps the address %s, so that its page finds its data in a replay',
  (address, calls) => {
    for (const more of [[], later]) {
      const { log } = exported([routeChanged(address), ...calls, ...more])
      expect(log.final.route).toBe(address)
    }
  },
)

test.each([`/activity?username=${SECRET}`, '/files/hun', '/admin/users/4711', '/security?sso=hun'])(
  'an exported log masks a name in %s that the log contains nowhere else',
  (address) => {
    const { log } = exported([routeChanged(address), files('hunter.txt')])
    expect(log.final.route).toMatch(/\u2022/)
  },
)

test('the names of all query parameters are listed as the console’s own words', () => {
  const root = join(__dirname, '../../../src/web')
  const sources = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter((name) => /\.tsx?$/.test(name))
  const read = sources.flatMap((name) =>
    /[sS]earchParams/.test(readFileSync(join(root, name), 'utf8'))
      ? [...readFileSync(join(root, name), 'utf8').matchAll(/\.get(?:All)?\('([\w-]+)'\)/g)].map(
          ([, parameter]) => parameter,
        )
      : [],
  )
  expect([...new Set(read)].sort()).toEqual(['invite', ...PAGE_PARAMETERS].sort())
})

test.each([[], later])(
  'a password of digits that was typed as the number of a user in an address is masked',
  (...more) => {
    const password = '84729163'
    const { text } = exported([
      call('login', { username: 'ann', password }, 'pending'),
      routeChanged(`/admin/users/${password}`),
      call('getUserAccess', Number(password), 'pending'),
      call('getUserAccess', Number(password), 'rejected', { status: 404, message: `There is no user ${password}.` }),
      ...more,
    ])
    expect(text).not.toContain(password)
  },
)
