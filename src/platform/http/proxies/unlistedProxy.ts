import { isIP } from 'node:net'
import type { FastifyInstance } from 'fastify'
import type { TrustedProxies } from '../../accounts/clientAddress'

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
      'ignoring X-Forwarded-For from an address that is not in QUARTERDECK_TRUSTED_PROXIES. If this is your reverse proxy, add it: until then all its clients share one limit of attempts and connections',
    )
  })
}
