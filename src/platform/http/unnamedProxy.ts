import { isIP } from 'node:net'
import type { FastifyInstance } from 'fastify'
import type { TrustedProxies } from '../accounts/clientAddress'

/** Anybody can send the header: so many addresses are told at most. */
const MOST_TOLD = 5

/** Warns, once for each address, of `X-Forwarded-For` from one that the settings do not name: a reverse proxy whose clients all count as one. */
export function warnOfUnnamedProxies(app: FastifyInstance, proxies: TrustedProxies): void {
  const told = new Set<string>()
  app.addHook('onRequest', async ({ headers, raw: { socket } }) => {
    const { remoteAddress } = socket
    // What is told instead of an address (localPeers.ts) cannot be named.
    if (headers['x-forwarded-for'] === undefined || remoteAddress === undefined || isIP(remoteAddress) === 0) return
    if (told.size >= MOST_TOLD || told.has(remoteAddress) || proxies.includes(remoteAddress)) return
    told.add(remoteAddress)
    app.log.warn(
      { address: remoteAddress },
      'X-Forwarded-For comes from an address that QUARTERDECK_TRUSTED_PROXIES does not name, and is ignored. If it is your reverse proxy, name it: until then all its clients share one limit of tries and connections',
    )
  })
}
