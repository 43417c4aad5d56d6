import type { ReactElement } from 'react'
import { createRoutesFromElements, type RouteObject } from 'react-router-dom'
import { PAGE_ROUTES } from '../../../src/contract/pageRoutes'
import { AppRoutes } from '../../../src/web/app/routing/routes'

const pathsOf = (routes: RouteObject[]): string[] =>
  routes.flatMap(({ path, children = [] }) => [...(path === undefined ? [] : [path]), ...pathsOf(children)])

test('§2 the server serves the page at every route of the router and nowhere else', () => {
  const { props } = AppRoutes() as ReactElement<{ children: ReactElement[] }>
  expect(pathsOf(createRoutesFromElements(props.children)).sort()).toEqual(
    [...PAGE_ROUTES.filter((route) => route !== '/replay'), '*'].sort(),
  )
})
