import { collectRoutes, type CollectedRoute } from '../../../support/platform/collectRoutes'
import { startPlatform, type TestPlatform } from '../../../support/platform/startPlatform'

interface Operation {
  tags: string[]
  security: Record<string, string[]>[]
  responses: Record<string, { $ref?: string; content?: object }>
}

interface Document {
  openapi: string
  servers: { url: string }[]
  paths: Record<string, Record<string, Operation>>
  components: { schemas: Record<string, object>; responses: Record<string, object> }
}

let platform: TestPlatform
let routes: CollectedRoute[]
let document: Document

beforeAll(async () => {
  const { started, routes: all } = await collectRoutes(() =>
    startPlatform({ environment: { QUARTERDECK_PUBLIC_URL: 'https://panel.example/console' } }),
  )
  platform = started
  routes = all.filter(({ schema }) => !schema?.hide)
  document = (await platform.app.inject({ url: '/api/openapi.json' })).json<Document>()
})
afterAll(() => platform.close())

const operationOf = ({ method, url }: CollectedRoute) =>
  document.paths[url.replaceAll(/:(\w+)/g, '{$1}')]?.[method.toLowerCase()]

test('the description is OpenAPI 3.1 of the console’s public address, and needs no session', () => {
  expect(document.openapi).toBe('3.1.0')
  expect(document.servers).toEqual([{ url: '/console' }])
})

test('every call is described with its group, whether it needs a session, and its failures by code', () => {
  for (const route of routes) {
    const name = `${route.method} ${route.url}`
    const operation = operationOf(route)
    const isPublic = route.config?.access === 'public'
    expect({ name, groups: operation?.tags.length }).toEqual({ name, groups: 1 })
    expect({ name, isPublic: operation?.security.length === 0 }).toEqual({ name, isPublic })
    const { responses } = operation!
    expect({ name, refused: responses['401']?.$ref }).toEqual({
      name,
      refused: isPublic ? undefined : '#/components/responses/NO_SESSION',
    })
    for (const { $ref } of Object.values(responses))
      if ($ref) expect(document.components.responses).toHaveProperty([$ref.split('/').pop()!])
  }
  const described = Object.values(document.paths).flatMap((path) => Object.keys(path))
  expect(described).toHaveLength(routes.length)
})

test('schemas of the contract are components with the names of their exports, without those that no call uses', () => {
  const names = Object.keys(document.components.schemas)
  expect(names).toEqual(expect.arrayContaining(['Deployment', 'Login', 'Failure', 'DeploymentsAnswer']))
  const text = JSON.stringify(document)
  const used = new Set([...text.matchAll(/"#\/components\/schemas\/(\w+)"/g)].map(([, name]) => name))
  expect(names.sort()).toEqual([...used].sort())
})
