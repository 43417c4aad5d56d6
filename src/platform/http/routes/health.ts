import type { FastifyBaseLogger } from 'fastify'
import { z } from 'zod'
import { Disk } from '../../../contract/disk'
import { Failure } from '../../../contract/errors'
import { Done, success } from '../../../contract/envelope'
import { createBoundedRead } from '../../concurrency/sharedRead'
import { AppError } from '../../errors'
import { bodyOf, done } from '../envelope'
import { call } from '../openapi/call'
import type { Router } from '../router'

/** A replica that does not reach the cluster can still show its last known state, so it should get calls. */
const HealthQuery = z.object({
  except: z.literal('cluster').optional().describe('A part that does not count. For readiness probes.'),
})

/** The checks by name; each throws if its part does not work. */
export type HealthChecks = Record<string, () => Promise<void>>

/** A check that takes longer fails. The check of a network share may hang as long as the share does. */
const CHECK_MS = 4500

/**
 * Adds the calls for the health of this platform:
 * - `GET /api/health` (decisions §11, §12), whether calls may be sent here: 200, or 503 with the failing checks. Both
 *   list the disks (our extra).
 * - `GET /api/health/live` (our extra), whether the process works: 200. A restart would not fix the
 *   failures of `GET /api/health`.
 */
export function healthRoutes(
  app: Router,
  checks: HealthChecks,
  isolation: 'contained' | 'plain',
  listDisks: () => Promise<Disk[]>,
  isEnding: () => boolean,
): void {
  app.get(
    '/api/health/live',
    {
      config: { access: 'public' },
      schema: { ...call('getLiveness', 'Check whether the process works'), response: { 200: Done } },
    },
    async () => done({}),
  )

  const names = [...Object.keys(checks), 'disk']
  // Shared, because clients without a session can request them at any rate.
  const sharedChecks = Object.values(checks).map((check) => createBoundedRead(check, CHECK_MS))
  const sharedDisks = createBoundedRead(listDisks, CHECK_MS)
  /** Logged once for each change, because clients without a session can request them at any rate. */
  let reported = ''
  function report(failing: string[], log: FastifyBaseLogger): void {
    const text = failing.join(', ')
    if (text === reported) return
    reported = text
    if (text === '') log.info('healthy again')
    else log.warn({ failing }, 'not healthy')
  }
  let isDiskFull = false
  const disks = z.array(Disk)
  const responses = {
    200: success(z.object({ parts: z.array(z.string()), isolation: z.enum(['contained', 'plain']), disks })),
    503: Failure.extend({ disks }),
  }
  app.get(
    '/api/health',
    {
      config: { access: 'public' },
      schema: {
        ...call('getHealth', 'Check whether the platform is ready for calls'),
        querystring: HealthQuery,
        response: responses,
      },
    },
    async (request, reply) => {
      const [measured, results] = await Promise.all([
        sharedDisks().catch(() => undefined),
        Promise.allSettled(sharedChecks.map((check) => check())),
      ])
      const all = names.filter((_, at) => results[at]?.status === 'rejected')
      // If the disks cannot be measured in time, the last result still counts.
      if (measured) isDiskFull = measured.some(({ level }) => level === 'full')
      if (isDiskFull) all.push('disk')
      const disks = measured ?? []
      if (isEnding()) all.push('the platform shuts down')
      report(all, request.log)
      const failing = all.filter((name) => name !== request.query.except)
      if (failing.length === 0) return done({ parts: names, isolation, disks })
      return reply.code(503).send({ ...bodyOf(new AppError('UNAVAILABLE', `Not ready: ${failing.join(', ')}`)), disks })
    },
  )
}
