import type { Middleware } from '@reduxjs/toolkit'
import { isAction } from '@reduxjs/toolkit'
import { replayReducer } from '../../../src/web/actionLog/replay/replayReducer'
import { addAppListeners } from '../../../src/web/app/appListeners'
import { addAppMiddleware } from '../../../src/web/app/dynamicMiddleware'
import type { LazySlices } from '../../../src/web/app/rootReducer'
import type * as Store from '../../../src/web/app/store'
import { makeStore } from '../../../src/web/app/store'
import { pageShown } from '../../../src/web/facts'
import type * as ConsoleSlice from '../../../src/web/sockets/consoleSlice'
import { fakeConsole, fakeRealtime, fakeServices, fakeUploads } from '../../support/web/services'

const freshStore = () => {
  const services = fakeServices()
  const store = makeStore({
    ...services,
    connectConsole: fakeConsole().connect,
    connectRealtime: fakeRealtime().connect,
    sendUpload: fakeUploads().send,
  })
  return { store, services }
}

test('a lazily loaded slice adds its state with the next action and leaves the other slices untouched', () => {
  jest.isolateModules(() => {
    /* eslint-disable @typescript-eslint/no-require-imports -- only isolateModules needs require */
    const { makeStore: makeEarlyStore } = require('../../../src/web/app/store') as typeof Store
    const store = makeEarlyStore({ ...fakeServices(), connectRealtime: fakeRealtime().connect })
    // The middleware of RTK Query registers itself with the first action.
    store.dispatch({ type: 'test/happened' })
    const before = store.getState()
    expect(before.console).toBeUndefined()
    const { selectConnection, consoleLeft } = require('../../../src/web/sockets/consoleSlice') as typeof ConsoleSlice
    /* eslint-enable @typescript-eslint/no-require-imports */
    expect(selectConnection(before)).toBe('closed')
    store.dispatch(consoleLeft())
    const { console, ...rest } = store.getState()
    expect(console?.connection).toBe('closed')
    for (const name of Object.keys(before) as (keyof typeof rest)[]) expect(rest[name]).toBe(before[name])
  })
})

test('the replay reducer includes the slices of all pages', () => {
  const lazy: Record<keyof LazySlices, true> = {
    account: true,
    admin: true,
    configuration: true,
    console: true,
    consolePanes: true,
    consoles: true,
    databases: true,
    deployments: true,
    drafts: true,
    files: true,
    instance: true,
    instancePanes: true,
    interruption: true,
    keys: true,
    navigation: true,
    otherWays: true,
    overview: true,
    palette: true,
    problems: true,
    registration: true,
    security: true,
    selection: true,
    uploads: true,
    version: true,
    works: true,
  }
  expect(Object.keys(replayReducer(undefined, pageShown()))).toEqual(expect.arrayContaining(Object.keys(lazy)))
})

test('middleware added by several pages receives every action', () => {
  const heard: string[] = []
  const listening =
    (who: string): Middleware =>
    () =>
    (next) =>
    (action) => {
      if (isAction(action)) heard.push(`${who} ${action.type}`)
      return next(action)
    }
  const { store } = freshStore()
  addAppMiddleware(listening('first'))
  store.dispatch(pageShown())
  addAppMiddleware(listening('second'))
  store.dispatch({ type: 'test/happened' })
  expect(heard.filter((entry) => entry.endsWith('test/happened')).sort()).toEqual([
    'first test/happened',
    'second test/happened',
  ])
})

test('a listener runs once per store, with the services of that store', () => {
  const stores = [freshStore(), freshStore()]
  const heard: unknown[] = []
  addAppListeners((startListening) => {
    startListening({ actionCreator: pageShown, effect: (_, { extra }) => void heard.push(extra.storage) })
  })
  for (const { store } of [...stores, ...stores]) store.dispatch(pageShown())
  const storages = stores.map(({ services }) => services.storage)
  expect(heard).toEqual([...storages, ...storages])
  for (const [at, storage] of heard.entries()) expect(storage).toBe(storages[at % 2])
})
