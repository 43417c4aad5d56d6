import type { FastifySchema, RouteOptions } from 'fastify'
import type { SwaggerTransform } from '@fastify/swagger'
import { createJsonSchemaTransform } from 'fastify-type-provider-zod'
import { z } from 'zod'
import { Nothing } from '../../../contract/envelope'
import type { Access } from '../access'
import { codesOf, errorResponses } from './failureResponses'

/** The groups of calls by the first segment of their path. */
const TAGS: Record<string, string> = {
  auth: 'Sign-in',
  account: 'Own account',
  keys: 'Own account',
  sessions: 'Own account',
  deployments: 'Deployments',
  discovery: 'Deployments',
  metrics: 'Deployments',
  sftp: 'Files',
  database: 'Databases',
  users: 'Administration',
  'invite-codes': 'Administration',
  activity: 'Administration',
  admin: 'Administration',
  network: 'Platform',
  health: 'Platform',
  'openapi.json': 'Platform',
}

export const TAG_NAMES = [...new Set(Object.values(TAGS))]

const toJsonSchema = createJsonSchemaTransform({}) as SwaggerTransform

type TransformInput = Parameters<SwaggerTransform>[0]

/** Throws unless a route under /api has what its description needs. For `onRoute`. */
export function requireDescription({ url, method, schema }: RouteOptions): void {
  if (!url.startsWith('/api') || schema?.hide) return
  const route = `The route ${String(method)} ${url}`
  if (!schema?.summary || !schema.operationId) throw new Error(`${route} has no summary or operationId`)
  if (!TAGS[groupOf(url)]) throw new Error(`${route} belongs to no group of calls`)
}

const groupOf = (url: string) => url.split('/')[2] ?? ''

/** Describes one route from its schemas and its configuration. For `transform` of `@fastify/swagger`. */
export function describeRoute(input: TransformInput): { schema: FastifySchema; url: string } {
  const { url, route } = input
  if (!url.startsWith('/api/') || input.schema?.hide) return { schema: { hide: true }, url }
  const { access } = route?.config ?? {}
  const { body, querystring, params, response, errors = [], form, rawResponses, ...rest } = input.schema ?? {}
  const requestBody = form ?? (body === Nothing ? undefined : body)
  const isPublic = access === 'public'
  const schema = {
    ...rest,
    response: { ...(response as object), ...rawResponses },
    ...(requestBody !== undefined && { body: requestBody }),
    // Clones have no component name: parameters are described one by one, so a component of all of them would be
    // unused.
    ...(querystring instanceof z.ZodType && { querystring: querystring.clone(querystring.def) }),
    ...(params instanceof z.ZodType && { params: params.clone(params.def) }),
  }
  const described = toJsonSchema({ ...input, schema }).schema as Record<string, Record<string, unknown>>
  const codes = codesOf({
    errors,
    isPublic,
    changes: route?.method !== 'GET',
    hasBody: body !== undefined || form !== undefined,
  })
  return {
    url,
    schema: {
      ...described,
      tags: [TAGS[groupOf(url)] ?? ''],
      description: accessText(access),
      security: securityOf(access),
      response: { ...errorResponses(codes), ...described.response },
    },
  }
}

/** A session, or an API key with the scope, which OpenAPI 3.1 calls a role. */
function securityOf(access: Access | undefined): Record<string, string[]>[] {
  if (access === undefined || access === 'public') return []
  if (access === 'account') return [{ session: [] }]
  return [{ session: [] }, { apiKey: access === 'caller' ? [] : [access.scope] }]
}

/** Who may make a call, in words. */
function accessText(access: Access | undefined): string | undefined {
  if (access === undefined || access === 'public') return undefined
  if (access === 'account') return 'With a session only: an API key cannot make this call.'
  if (access === 'caller') return 'With a session or any API key.'
  const { scope, role, right = access.checks } = access
  const roles = { administrator: 'For administrators.', operator: 'For operators and administrators.' }
  return [
    role && roles[role],
    right && `A limited user needs the right \`${right}\` on the deployment.`,
    `An API key needs the scope \`${scope}\`.`,
  ]
    .filter(Boolean)
    .join(' ')
}
