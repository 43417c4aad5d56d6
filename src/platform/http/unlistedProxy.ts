import { isIP } from 'node:net'
import type { FastifyInstance } from 'fastify'
import type { TrustedProxies } from '../accounts/clientAddress'

/** Any client can send the header, so the warnings are limited. */
const MAX_WARNINGS = 5

/** Warns once per address of `X-Forwarded-For` from an unlisted proxy, whose clients all share one address. */
export function warnOfUnlistedProxies(app: FastifyInstance, proxies: TrustedProxies): void {
  const warned = new Set<string>()
  app.addHook('onRequest', async ({ headers, raw: { socket } }) => {
    const { remoteAddress } = socket
    // The names that localConnections.ts gives cannot be listed in the settings.
    if (headers['x-forwarded-for'] === undefined || remoteAddress === undefined || isIP(remoteAddress) === 0) return
    if (warned.size >= MAX_WARNINGS || warned.has(remoteAddress) || proxies.includes(remoteAddress)) return
    warned.add(remoteAddress)
    app.log.warn(
      { address: remoteAddress },
      'X-Forwarded-For comes from an address that QUARTERDECK_TRUSTED_PROXIES does not name, and is ignored. If it is your reverse proxy, name it: until then all its clients share one limit of tries and connections',
    )
  })
}
