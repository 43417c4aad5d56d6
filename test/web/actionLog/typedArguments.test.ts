/** @jest-environment node */
import { problemLogged, sessionStarted } from '../../../src/web/facts'
import { activityFiltered } from '../../../src/web/features/admin/adminSlice'
import { filterTyped } from '../../../src/web/features/files/filesSlice'
import { matchShown, searched } from '../../../src/web/features/instance/instanceSlice'
import { themeChosen } from '../../../src/web/app/themeSlice'
import { type Action, call, expectNowhere, exported, files, later, SECRET } from '../../support/web/exportedLog'

test('the arguments of a failed call are masked, also in its error and its notification', () => {
  const { text, log } = exported([
    call('createFile', `/nfsshare/${SECRET}`, 'pending'),
    call('createFile', `/nfsshare/${SECRET}`, 'rejected', { status: 409, message: `${SECRET} exists already` }),
    {
      type: 'notifications/notified',
      payload: { id: '1', type: 'danger', message: `Failed to create ${SECRET}` },
    } as Action,
    ...later.slice(0, 10),
  ])
  expect(text).not.toContain(SECRET)
  expect(log.actions[1]!.payload).toEqual({ status: 409, message: '••• exists already' })
  expect(log.actions[2]!.payload).toMatchObject({ message: 'Failed to create •••' })
  expect(
    exported([
      call('createFile', `/nfsshare/${SECRET}`, 'pending'),
      {
        type: 'notifications/notified',
        payload: { id: '1', type: 'danger', message: `Failed to create ${SECRET}` },
      } as Action,
    ]).text,
  ).not.toContain(SECRET)
})

test('search texts are masked in cache keys and tags, and a replay still finds its data', () => {
  const search = { search: SECRET }
  const key = `getActivity(${JSON.stringify(search)})`
  const path = `/nfsshare/${SECRET}`
  const actions = [
    call('getActivity', search, 'pending'),
    call('getActivity', search, 'fulfilled', { entries: [], next: null }),
    {
      type: 'api/internalSubscriptions/subscriptionsUpdated',
      payload: [{ op: 'add', path: [key], value: { r1: {} } }],
    },
    call('getFiles', path, 'pending'),
    call('getFiles', path, 'rejected', { status: 404, message: `There is no ${path}.` }),
    {
      type: 'api/invalidation/updateProvidedBy',
      payload: [{ queryCacheKey: `getFiles(${JSON.stringify(path)})`, providedTags: [{ type: 'Files', id: path }] }],
    },
    sessionStarted({ id: 'x', isAdmin: true, expiresAt: 1 }),
  ]
  const { text, log } = exported(actions)
  expect(text).not.toContain(SECRET)
  const { queries } = log.final.api as { queries: Record<string, { originalArgs: unknown; status: string }> }
  expect(Object.keys(queries).map((name) => name.replace(/•+\d*/, '•'))).toEqual([
    'getActivity({"search":"•"})',
    'getFiles("/nfsshare/•")',
  ])
  expect(Object.values(queries)[0]).toMatchObject({ status: 'fulfilled' })
  expectNowhere(exported([...actions, ...later]).text)
})

test('arguments of an evicted call are masked where the state still contains them', () => {
  const path = `/nfsshare/${SECRET}`
  const search = { search: SECRET }
  const searchKey = `getActivity(${JSON.stringify(search)})`
  const actions = [
    call('createDatabase', { type: 'sql', name: SECRET }, 'pending'),
    call('createDatabase', { type: 'sql', name: SECRET }, 'rejected', { status: 409, message: `${SECRET} exists` }),
    problemLogged(`Failed to create SQL database ${SECRET}`, 'It exists.'),
    call('getFiles', path, 'pending'),
    {
      type: 'api/invalidation/updateProvidedBy',
      payload: [{ queryCacheKey: `getFiles(${JSON.stringify(path)})`, providedTags: [{ type: 'Files', id: path }] }],
    },
    { type: 'api/queries/removeQueryResult', payload: { queryCacheKey: `getFiles(${JSON.stringify(path)})` } },
    call('getActivity', search, 'pending'),
    call('getActivity', search, 'rejected', { status: 400, message: `search: ${SECRET} is too long` }),
    {
      type: 'api/invalidation/updateProvidedBy',
      payload: [{ queryCacheKey: searchKey, providedTags: [{ type: 'Activity', id: 'LIST' }] }],
    },
    { type: 'api/queries/removeQueryResult', payload: { queryCacheKey: searchKey } },
  ]
  expectNowhere(exported([...actions, ...later]).text)
  expectNowhere(exported([...actions.slice(0, -1), ...later]).text)
})

test('arguments are masked in keys of the base state even if the recorder no longer remembers all typed texts', () => {
  const path = `/nfsshare/${SECRET}`
  const flood = Array.from({ length: 21 }, (_, at) => filterTyped(`${at}`.padEnd(100_000, 'y')))
  const key = `getFiles(${JSON.stringify(path)})`
  const actions = [
    call('toggleDeployment', { name: SECRET, enabled: true }, 'pending', undefined, {
      requestId: 'r2',
      fixedCacheKey: `toggle ${SECRET}`,
    }),
    call('downloadFile', { path, name: SECRET, type: '-' }, 'pending', undefined, {
      fixedCacheKey: `download ${path}`,
    }),
    call('createDatabase', { type: 'sql', name: SECRET }, 'pending', undefined, { requestId: 'r3' }),
    call('createDatabase', { type: 'sql', name: SECRET }, 'fulfilled', null, { requestId: 'r3' }),
    call('getFiles', path, 'pending'),
    {
      type: 'api/invalidation/updateProvidedBy',
      payload: [{ queryCacheKey: key, providedTags: [{ type: 'Files', id: path }] }],
    },
    { type: 'api/queries/removeQueryResult', payload: { queryCacheKey: key } },
  ]
  for (const first of [
    [...flood, ...actions],
    [...actions, ...flood],
  ])
    expectNowhere(exported([...first, ...later]).text)
})

test.each([SECRET, `${SECRET}/%é`, 'q7'])('the argument %p is masked in keys that contain it', (name) => {
  const path = `/nfsshare/${name}`
  const keyed = (endpoint: string, args: unknown, fixedCacheKey?: string) => [
    call(endpoint, args, 'pending', undefined, { requestId: endpoint, ...(fixedCacheKey && { fixedCacheKey }) }),
    call(endpoint, args, 'fulfilled', null, { requestId: endpoint, ...(fixedCacheKey && { fixedCacheKey }) }),
  ]
  const { log } = exported([
    ...keyed('downloadFile', { path, name, type: '-' }, `download ${path}`),
    ...keyed('toggleDeployment', { name, enabled: true }, `toggle ${name}`),
    ...keyed('restartDeployment', name, `restart ${name}`),
    ...keyed('createDatabase', { type: 'sql', name }),
    ...later,
  ])
  const { mutations } = log.base.api as { mutations: object }
  const { expanded } = log.base.databases as { expanded: string[] }
  const keys = [...Object.keys(mutations), ...expanded].map((key) => key.replaceAll(/•+\d*/g, '•'))
  expect(keys).toEqual([
    `download /nfsshare/${name.includes('/') ? '•/•' : '•'}`,
    'toggle •',
    'restart •',
    'createDatabase',
    'sql/•',
  ])
})

test('an entry of the activity log does not count as a response: what it names may not exist', () => {
  const entry = { id: 1, at: 1, username: 'ann', kind: 'files', action: 'failed to move', address: '::1' }
  const pages = (succeeded: boolean) => ({
    pages: [{ entries: [{ ...entry, subject: `/nfsshare/${SECRET}`, succeeded }], hasMore: false }],
    pageParams: [null],
  })
  const actions = (succeeded: boolean) => [
    call('getActivity', {}, 'pending'),
    call('getActivity', {}, 'fulfilled', pages(succeeded)),
    filterTyped(SECRET),
  ]
  for (const succeeded of [false, true]) {
    expectNowhere(exported(actions(succeeded)).text)
    expectNowhere(exported([...actions(succeeded), ...later]).text)
  }
  expect(exported([files(SECRET), ...actions(true)]).log.actions[3]!.payload).toBe(SECRET)
})

test('a response that lists directories that could not be created does not count as a source of names', () => {
  const path = `/nfsshare/${SECRET}`
  expectNowhere(
    exported([
      call('createDirectories', [path], 'pending'),
      call('createDirectories', [path], 'fulfilled', { existing: [], failed: [{ path, message: 'no' }] }),
      filterTyped(SECRET),
    ]).text,
  )
})

test('two masked searches stay two queries, and their prefixes are not masked in messages', () => {
  const { log } = exported([
    ...['fai', 'fail'].flatMap((search) => [
      call('getActivity', { search }, 'pending'),
      call('getActivity', { search }, 'fulfilled', { pages: [], pageParams: [] }),
    ]),
    problemLogged('Failed to create world', 'It exists.'),
  ])
  expect(Object.keys((log.final.api as { queries: object }).queries)).toHaveLength(2)
  expect((log.final.problems as { list: object[] }).list[0]).toMatchObject({ what: 'Failed to create world' })
})

test('a state value is kept even if a search for the same word is masked', () => {
  const { log } = exported([call('getActivity', { search: 'dark' }, 'pending'), themeChosen('dark')])
  expect(log.actions[1]!.payload).toBe('dark')
})

test('the results of a masked search in the activity log are left out, because they contain the search text', () => {
  const entry = { id: 1, at: 1, username: 'ann', kind: 'files', action: 'moved', address: '::1', succeeded: true }
  const found = {
    pages: [{ entries: [{ ...entry, subject: '/nfsshare/chunks' }], hasMore: false }],
    pageParams: [null],
  }
  const actions = ['hun', SECRET].flatMap((search) => [
    activityFiltered({ search }),
    call('getActivity', { search }, 'pending'),
    call('getActivity', { search }, 'fulfilled', search === 'hun' ? found : { pages: [], pageParams: [] }),
  ])
  const named = files('chunks')
  expect(exported([named, ...actions]).text).not.toContain('"moved"')
  expect(exported([named, ...actions, ...later]).text).not.toContain('"moved"')
  expect(exported([named, ...actions.slice(0, 3)]).text).toContain('"moved"')
})

test('the position of a search result in the output is left out, because it would reveal the search text', () => {
  const found = { occurrence: { line: 12, at: 34 }, position: { line: 5, offset: 6 } }
  const { log } = exported([searched('hun'), matchShown(found), searched(SECRET)])
  expect(log.actions[1]!.payload).toEqual({ occurrence: { line: 0, at: 0 }, position: { line: 0, offset: 0 } })
})
