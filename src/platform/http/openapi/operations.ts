import type { FastifySchema } from 'fastify'
import type { SwaggerTransform } from '@fastify/swagger'
import { createJsonSchemaTransform } from 'fastify-type-provider-zod'
import { z } from 'zod'
import { Nothing } from '../../../contract/envelope'
import type { ErrorCode } from '../../../contract/errors'
import { codesOf, errorResponses } from './errors'

declare module 'fastify' {
  interface FastifySchema {
    /** Codes with which this call may fail, apart from those of every call (see `codesOf`). */
    errors?: readonly ErrorCode[]
    /** The fields of a form that the route reads itself. For the description only. */
    form?: z.ZodType
  }
}

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

type Given = Parameters<SwaggerTransform>[0]

const groupOf = (url: string) => url.split('/')[2] ?? ''

/** Describes one route from its schemas and its configuration. For `transform` of `@fastify/swagger`. */
export function describeRoute(given: Given): { schema: FastifySchema; url: string } {
  const { url, route } = given
  if (!url.startsWith('/api/') || given.schema?.hide) return { schema: { hide: true }, url }
  const { access } = route?.config ?? {}
  const { body, querystring, params, errors = [], form, ...rest } = given.schema ?? {}
  const input = form ?? (body === Nothing ? undefined : body)
  const isPublic = access === 'public'
  const schema = {
    ...rest,
    ...(input !== undefined && { body: input }),
    // Copies have no name. Parameters are given one by one, so a named schema of all of them would have no use.
    ...(querystring instanceof z.ZodType && { querystring: querystring.clone(querystring.def) }),
    ...(params instanceof z.ZodType && { params: params.clone(params.def) }),
  }
  const described = toJsonSchema({ ...given, schema }).schema as Record<string, Record<string, unknown>>
  const codes = codesOf({ errors, isPublic, hasBody: body !== undefined || form !== undefined })
  return {
    url,
    schema: {
      ...described,
      tags: [TAGS[groupOf(url)] ?? ''],
      security: isPublic ? [] : [{ session: [] }],
      response: { ...errorResponses(codes), ...described.response },
    },
  }
}
