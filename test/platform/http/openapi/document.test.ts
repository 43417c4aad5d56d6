import { ServerResponse } from 'node:http'
import Fastify from 'fastify'
import type { z } from 'zod'
import { call } from '../../../../src/platform/http/openapi/call'
import { describeCalls } from '../../../../src/platform/http/openapi/document'
import { responseExamples } from '../../../../src/platform/http/openapi/responseExamples'
import { bodyExamples } from '../../../../src/platform/http/openapi/bodyExamples'
import { collectRoutes, type CollectedRoute } from '../../../support/platform/collectRoutes'
import { startPlatform, type TestPlatform } from '../../../support/platform/startPlatform'

interface Operation {
  operationId: string
  summary: string
  description?: string
  tags: string[]
  security: Record<string, string[]>[]
  requestBody?: { content?: Content }
  responses: Record<string, { $ref?: string; content?: Content }>
}

type Content = Record<string, { schema: { $ref?: string }; example?: unknown } | undefined>

const JSON_TYPE = 'application/json'
/** Answers that say only that the call succeeded. */
const NO_DATA = ['#/components/schemas/Done']

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

test('security 210: clients that do not read the description, which needs no session, hold one copy together', async () => {
  const sent = jest.spyOn(ServerResponse.prototype, 'write')
  try {
    for (let count = 0; count < 2; count += 1) await platform.app.inject({ url: '/api/openapi.json' })
    const [first, second] = sent.mock.calls.map(([body]) => body as unknown)
    expect(first).toBeInstanceOf(Buffer)
    expect(second).toBe(first)
  } finally {
    sent.mockRestore()
  }
})

test('every call is described with a name of its own, a summary and its group', () => {
  const described = Object.values(document.paths).flatMap((path) => Object.values(path))
  expect(described).toHaveLength(routes.length)
  expect(new Set(described.map(({ operationId }) => operationId)).size).toBe(routes.length)
  for (const { operationId, summary, tags } of described)
    expect({ operationId, summary, groups: tags.length }).toEqual({
      operationId,
      summary: expect.stringMatching(/^[A-Z].*[^.]$/) as string,
      groups: 1,
    })
})

test('every call says whether it takes a session or an API key, and the scope of the key', () => {
  for (const route of routes) {
    const name = `${route.method} ${route.url}`
    const access = route.config?.access
    const keys = { account: [], caller: [{ apiKey: [] }] }
    const expected =
      access === 'public'
        ? []
        : [{ session: [] }, ...(typeof access === 'string' ? keys[access] : [{ apiKey: [access?.scope] }])]
    expect({ name, security: operationOf(route)?.security }).toEqual({ name, security: expected })
  }
  expect(document.paths['/api/deployments/{name}/toggle']!.post!.description).toBe(
    'A limited user needs the right `power` on the deployment. An API key needs the scope `power`.',
  )
})

test('every call lists its failures by code: those of all calls, of its kind and its own', () => {
  for (const route of routes) {
    const name = `${route.method} ${route.url}`
    const { responses } = operationOf(route)!
    const codes = Object.values(responses).flatMap(({ $ref }) => $ref?.split('/').pop()!.split('.') ?? [])
    const isPublic = route.config?.access === 'public'
    expect({ name, codes }).toEqual({
      name,
      codes: expect.arrayContaining([
        'INVALID_INPUT',
        'INTERNAL',
        ...(isPublic ? [] : ['NO_SESSION', 'NOT_ALLOWED']),
        ...(route.schema?.errors ?? []),
      ]) as string[],
    })
    for (const { $ref } of Object.values(responses))
      if ($ref) expect(document.components.responses).toHaveProperty([$ref.split('/').pop()!])
  }
})

test('every example fits the schema of its call', () => {
  for (const { schema } of routes) {
    const {
      operationId = '',
      body,
      response,
    } = (schema ?? {}) as {
      operationId?: string
      body?: z.ZodType
      response?: Record<string, z.ZodType>
    }
    const data = responseExamples[operationId]
    const [answer] = Object.values({ ...response, ...(schema?.rawResponses as Record<string, z.ZodType> | undefined) })
    const problems = [
      bodyExamples[operationId] !== undefined && body?.safeParse(bodyExamples[operationId]).error?.message,
      data && answer?.safeParse({ success: true, data }).error?.message,
    ]
    expect({ operationId, problems: problems.filter(Boolean) }).toEqual({ operationId, problems: [] })
  }
  const known = routes.map(({ schema }) => schema?.operationId)
  expect([...Object.keys(bodyExamples), ...Object.keys(responseExamples)].filter((id) => !known.includes(id))).toEqual(
    [],
  )
})

test('every JSON body, and every response with data, has an example', () => {
  const missing = Object.values(document.paths)
    .flatMap((path) => Object.values(path))
    .flatMap(({ operationId, requestBody, responses }) => {
      const answers = Object.entries(responses).filter(([status]) => status.startsWith('2'))
      const contents = [requestBody, ...answers.map(([, answer]) => answer)].map((part) => part?.content?.[JSON_TYPE])
      return contents.some((content) => content && !content.example && !NO_DATA.includes(content.schema.$ref ?? ''))
        ? [operationId]
        : []
    })
  // Its example would be the whole document.
  expect(missing).toEqual(['getOpenApi'])
})

test('a route without a summary, or of no group of calls, cannot be added', async () => {
  const app = Fastify()
  await describeCalls(app, '')
  const config = { access: 'public' } as const
  expect(() => app.get('/api/users/new', { config }, async () => ({}))).toThrow(
    'The route GET /api/users/new has no summary or operationId',
  )
  const schema = call('makeSomethingNew', 'Make something new')
  expect(() => app.get('/api/new', { config, schema }, async () => ({}))).toThrow(
    'The route GET /api/new belongs to no group of calls',
  )
})

test('schemas of the contract are components with the names of their exports, without those that no call uses', () => {
  const names = Object.keys(document.components.schemas)
  expect(names).toEqual(expect.arrayContaining(['Deployment', 'Login', 'Failure', 'DeploymentsResponse']))
  const text = JSON.stringify(document)
  const used = new Set([...text.matchAll(/"#\/components\/schemas\/(\w+)"/g)].map(([, name]) => name))
  expect(names.sort()).toEqual([...used].sort())
})
