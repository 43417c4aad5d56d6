import type { DatabaseServer } from '../../../src/platform/databases/databaseServer'

/** A server whose databases take no room, for tests that create many. */
export function imitatedSql(): DatabaseServer {
  return {
    open: async () => undefined,
    address: async () => ({ host: 'localhost', port: 5432 }),
    stats: async () => new Map(),
    create: async () => undefined,
    setPassword: async () => undefined,
    remove: async () => undefined,
    close: async () => undefined,
  }
}
