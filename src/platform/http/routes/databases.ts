import type { FastifyRequest } from 'fastify'
import { z } from 'zod'
import { CreateDatabase, DatabaseAnswer, DatabaseName, DatabasesAnswer, DatabaseType } from '../../../contract/database'
import { Done, Nothing } from '../../../contract/envelope'
import type { Databases } from '../../databases/databases'
import { forOperators } from '../access'
import { fieldOf, type Activity } from '../activity'
import { done } from '../envelope'
import { call } from '../openapi/call'
import type { Router } from '../router'

const ByType = z.strictObject({ type: DatabaseType })
const ByName = z.strictObject({ type: DatabaseType, name: DatabaseName })

const wireType = fieldOf('params', 'type')
const typeOf = (request: FastifyRequest) => (wireType(request) === 'mongo' ? 'MongoDB' : 'SQL')

/** Adds the calls for users’ databases (product §7). */
export function databaseRoutes(app: Router, databases: Databases): void {
  const config = { access: forOperators('databases') }
  const recorded = (action: (type: string) => string, subject = fieldOf('params', 'name')) => ({
    ...config,
    activity: {
      kind: 'database',
      action: (request: FastifyRequest) => action(typeOf(request)),
      subject,
    } satisfies Activity,
  })

  app.get(
    '/api/database/:type',
    {
      config,
      schema: {
        ...call('listDatabases', 'List the databases of a kind', 'NOT_CONFIGURED'),
        params: ByType,
        response: { 200: DatabasesAnswer },
      },
    },
    async ({ params }) => done({ databases: await databases.list(params.type) }),
  )

  const created = recorded((type) => `created ${type} database`, fieldOf('body', 'name'))
  app.post(
    '/api/database/:type',
    {
      config: created,
      schema: {
        ...call(
          'createDatabase',
          'Create a database with a user of its own',
          'NOT_CONFIGURED',
          'NAME_TAKEN',
          'CONFLICT',
        ),
        params: ByType,
        body: CreateDatabase,
        response: { 201: DatabaseAnswer },
      },
    },
    async ({ params, body }, reply) => reply.code(201).send(done(await databases.create(params.type, body.name))),
  )

  const reset = recorded((type) => `reset password of ${type} database`)
  app.patch(
    '/api/database/:type/:name',
    {
      config: reset,
      schema: {
        ...call(
          'resetDatabasePassword',
          'Give a database’s user a new password',
          'NOT_CONFIGURED',
          'NOT_FOUND',
          'CONFLICT',
        ),
        params: ByName,
        body: Nothing,
        response: { 200: DatabaseAnswer },
      },
    },
    async ({ params }) => done(await databases.resetPassword(params.type, params.name)),
  )

  const deleted = recorded((type) => `deleted ${type} database`)
  app.delete(
    '/api/database/:type/:name',
    {
      config: deleted,
      schema: {
        ...call('deleteDatabase', 'Delete a database and its user', 'NOT_CONFIGURED', 'NOT_FOUND', 'CONFLICT'),
        params: ByName,
        response: { 200: Done },
      },
    },
    async ({ params }) => {
      await databases.remove(params.type, params.name)
      return done({})
    },
  )
}
