import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { FastifyInstance, RouteOptions } from 'fastify'

/** A route of an app (`/api/…`) as declared: method, URL, schemas, and who may call it. */
export type CollectedRoute = Pick<RouteOptions, 'url' | 'schema' | 'config'> & {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
}

/**
 * Runs `start` and collects the routes of every Fastify app that it creates, so that tests cover new routes
 * automatically.
 */
export async function collectRoutes<Started>(
  start: () => Promise<Started>,
): Promise<{ started: Started; routes: CollectedRoute[] }> {
  const routes: CollectedRoute[] = []
  const watch = (message: unknown) => {
    const { fastify } = message as { fastify: FastifyInstance }
    fastify.addHook('onRoute', ({ url, schema, config, method }) => {
      if (!url.startsWith('/api')) return
      for (const name of [method].flat())
        if (name !== 'HEAD') routes.push({ method: name as CollectedRoute['method'], url, schema, config })
    })
  }
  subscribe('fastify.initialization', watch)
  try {
    return { started: await start(), routes }
  } finally {
    unsubscribe('fastify.initialization', watch)
  }
}
