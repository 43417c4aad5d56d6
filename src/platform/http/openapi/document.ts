import swagger from '@fastify/swagger'
import type { FastifyInstance } from 'fastify'
import { createJsonSchemaTransformObject } from 'fastify-type-provider-zod'
import { z } from 'zod'
import type { Router } from '../router'
import { call } from './call'
import { nameSchemas, tidyComponents } from './components'
import { shareErrors } from './failureResponses'
import { addExamples } from './examples'
import { describeRoute, requireDescription, TAG_NAMES } from './operations'

const DESCRIPTION = `The calls of a Quarterdeck platform.

Every response is \`{success: true, data}\` or \`{success: false, code, message}\`. Times are milliseconds since the epoch unless a
field says otherwise. A call may fail with one of the codes under its status; \`message\` is a text for users.

To sign in, call \`POST /api/auth/login\` with the password and \`POST /api/auth/verify-login\` with a one-time code; the token
of the second response goes into the header \`Authorization: Bearer …\` of every other call. Programs use an API key in its place, which
is made at *Account* in the console and has the scopes that its calls need, at most 600 calls a minute (\`RateLimit\`), and never
more rights than its user.`

const addComponents = createJsonSchemaTransformObject({})

/**
 * Describes every route under /api that is added afterwards as OpenAPI 3.1, from its schemas and its configuration. A
 * route without a summary and an operation id cannot be added.
 * @param basePath the path of the console's public address; empty for none
 */
export async function describeCalls(app: FastifyInstance, basePath: string): Promise<void> {
  nameSchemas()
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: { title: 'Quarterdeck', version: '1', description: DESCRIPTION },
      servers: [{ url: basePath === '' ? '/' : basePath }],
      tags: TAG_NAMES.map((name) => ({ name })),
      components: {
        securitySchemes: {
          session: {
            type: 'http',
            scheme: 'bearer',
            description: 'The token of a session, from `POST /api/auth/verify-login`.',
          },
          apiKey: { type: 'http', scheme: 'bearer', description: 'An API key, `qd_…`.' },
        },
      },
    },
    stripBasePath: false,
    convertConstToEnum: false,
    transform: describeRoute,
    transformObject: (made) => shareErrors(addExamples(tidyComponents(addComponents(made)))),
  })
  app.addHook('onRoute', requireDescription)
}

/** Adds `GET /api/openapi.json`. The document is made at the first call, from the routes that exist then. */
export function openApiRoute(app: Router): void {
  /** As bytes, which all responses share: clients need no session, and may read them slowly. */
  let text: Buffer | undefined
  app.get(
    '/api/openapi.json',
    {
      config: { access: 'public' },
      schema: {
        ...call('getOpenApi', 'Describe all calls as OpenAPI 3.1'),
        response: { 200: z.looseObject({ openapi: z.string() }) },
      },
    },
    async (_request, reply) =>
      reply
        .type('application/json; charset=utf-8')
        .send((text ??= Buffer.from(JSON.stringify(app.swagger()))) as never),
  )
}
