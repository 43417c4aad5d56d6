import type { ReactElement } from 'react'
import { createRoutesFromElements, type RouteObject } from 'react-router-dom'
import { PAGE_ROUTES } from '../../../src/contract/pageRoutes'
import { AppRoutes } from '../../../src/web/app/routes'

const pathsOf = (routes: RouteObject[]): string[] =>
  routes.flatMap(({ path, children = [] }) => [...(path === undefined ? [] : [path]), ...pathsOf(children)])

test('§2 the page is served at every route of its router, and at no other address', () => {
  const { props } = AppRoutes() as ReactElement<{ children: ReactElement[] }>
  expect(pathsOf(createRoutesFromElements(props.children)).sort()).toEqual(
    [...PAGE_ROUTES.filter((route) => route !== '/replay'), '*'].sort(),
  )
})
