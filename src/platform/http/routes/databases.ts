import type { FastifyRequest } from 'fastify'
import { z } from 'zod'
import {
  CreateDatabase,
  DatabaseResponse,
  DatabaseName,
  DatabasesResponse,
  DatabaseType,
} from '../../../contract/database'
import { Done, Nothing } from '../../../contract/envelope'
import { createFairQueue } from '../../concurrency/fairQueue'
import type { Databases } from '../../databases/databases'
import { AppError } from '../../errors'
import { forOperators, presentUserOf, userOf } from '../access'
import { fieldOf, type Activity } from '../activity'
import { done } from '../envelope'
import { call } from '../openapi/call'
import type { Router } from '../router'

const ByType = z.strictObject({ type: DatabaseType })
const ByName = z.strictObject({ type: DatabaseType, name: DatabaseName })

const wireType = fieldOf('params', 'type')
const typeOf = (request: FastifyRequest) => (wireType(request) === 'mongo' ? 'MongoDB' : 'SQL')

/** Changes that wait longer are refused. Behind changes on a server that hangs, they would wait for minutes. */
const WAIT_MS = 10_000

/** Users take turns with changes: each holds a connection to the platform’s own database (databaseLock.ts). */
function createTurns() {
  // A server that is down must not delay changes on the other.
  const queues = { sql: createFairQueue(), mongo: createFairQueue() }
  return async <Result>(
    request: FastifyRequest,
    type: DatabaseType,
    change: () => Promise<Result>,
  ): Promise<Result> => {
    const waiting = new AbortController()
    const timer = setTimeout(() => waiting.abort(othersInProgress()), WAIT_MS)
    const release = await queues[type]
      .acquire(userOf(request).userId, waiting.signal)
      .finally(() => clearTimeout(timer))
    try {
      await presentUserOf(request)
      return await change()
    } finally {
      release()
    }
  }
}

const othersInProgress = () =>
  new AppError('UNAVAILABLE', 'Other changes of databases are still in progress. Try again in a moment.')

/** Adds the calls for users’ databases (product §7). */
export function databaseRoutes(app: Router, databases: Databases): void {
  const inTurn = createTurns()
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
        response: { 200: DatabasesResponse },
      },
    },
    async ({ params }) => done({ databases: await databases.list(params.type) }),
  )

  const creation = recorded((type) => `created ${type} database`, fieldOf('body', 'name'))
  app.post(
    '/api/database/:type',
    {
      config: creation,
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
        response: { 201: DatabaseResponse },
      },
    },
    async (request, reply) => {
      const { params, body } = request
      const created = await inTurn(request, params.type, () => databases.create(params.type, body.name))
      return reply.code(201).send(done(created))
    },
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
        response: { 200: DatabaseResponse },
      },
    },
    async (request) => {
      const { type, name } = request.params
      return done(await inTurn(request, type, () => databases.resetPassword(type, name)))
    },
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
    async (request) => {
      const { type, name } = request.params
      await inTurn(request, type, () => databases.remove(type, name))
      return done({})
    },
  )
}
