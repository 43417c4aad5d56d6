import type { Middleware } from '@reduxjs/toolkit'
import { isAction } from '@reduxjs/toolkit'
import type { Part } from '../../../src/web/app/pages/part'
import { lateReducers } from '../../../src/web/app/pages/parts'
import { makeStore } from '../../../src/web/app/store'
import { fakeConsole, fakeRealtime, fakeServices, fakeUploads } from '../../support/web/services'

const freshStore = () =>
  makeStore({
    ...fakeServices(),
    connectConsole: fakeConsole().connect,
    connectRealtime: fakeRealtime().connect,
    sendUpload: fakeUploads().send,
  })

const partOf = <Name extends keyof Part['reducers']>(name: Name, more: Partial<Part<Name>> = {}) =>
  ({ reducers: { [name]: lateReducers[name] }, ...more }) as Part<Name>

test('a part brings its state, begins once, and leaves what was there as it is', () => {
  const store = freshStore()
  const before = store.getState()
  const begin = jest.fn()
  store.addPart(partOf('console', { begin }))
  store.addPart(partOf('console', { begin }))
  expect(begin).toHaveBeenCalledTimes(1)
  const { console, ...rest } = store.getState()
  expect(console?.connection).toBe('closed')
  for (const name of Object.keys(before) as (keyof typeof rest)[]) expect(rest[name]).toBe(before[name])

  store.addPart(partOf('instance'))
  expect(store.getState().console).toBe(console)
  expect(store.getState().instance).toBeDefined()
})

test('the middleware of several parts all hear what happens', () => {
  const heard: string[] = []
  const listening =
    (who: string): Middleware =>
    () =>
    (next) =>
    (action) => {
      if (isAction(action)) heard.push(`${who} ${action.type}`)
      return next(action)
    }
  const store = freshStore()
  store.addPart(partOf('console', { middleware: () => listening('first') }))
  store.addPart(partOf('instance', { middleware: () => listening('second') }))
  store.dispatch({ type: 'test/happened' })
  expect(heard.filter((entry) => entry.endsWith('test/happened')).sort()).toEqual([
    'first test/happened',
    'second test/happened',
  ])
})
