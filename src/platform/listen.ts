import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import type { FastifyInstance } from 'fastify'
import type { Logger } from 'pino'
import type { Settings } from './config'
import { errorCodeOf, StartError } from './errors'
import type { Runtime } from './runtime/runtime'

/** The first file descriptor that a service manager passes, by sd_listen_fds(3). */
const FIRST_PASSED_FD = 3

/**
 * Listens on the socket that a service manager passed (systemd socket units, sd_listen_fds(3)), else on the address of
 * the settings. A passed socket stays open while the platform restarts, so no other program can take its port.
 * @param environment the process's environment with `LISTEN_PID` and `LISTEN_FDS`
 * @returns the address to open, with scheme and port, and whether the socket was passed
 * @throws StartError when the address cannot be used
 */
export async function listen(
  app: FastifyInstance,
  { host, port }: Pick<Settings, 'host' | 'port'>,
  environment: Record<string, string | undefined>,
): Promise<{ url: string; isPassed: boolean }> {
  const fd = passedSocket(environment)
  try {
    const url = await app.listen({ host, port, ...(fd !== undefined && { fd }) })
    return { url, isPassed: fd !== undefined }
  } catch (error) {
    if (fd !== undefined)
      throw new StartError([
        `The socket that the service manager passed cannot be used (${errorCodeOf(error)}): pass a TCP socket`,
      ])
    throw addressError(error, { host, port })
  }
}

/**
 * Opens the address of the settings and closes it again. Instances that a start has begun go on when it fails, so
 * an address that cannot be used is found before them.
 * @throws StartError when the address cannot be used
 */
export async function requireFreeAddress(
  { host, port }: Pick<Settings, 'host' | 'port'>,
  environment: Record<string, string | undefined>,
): Promise<void> {
  if (passedSocket(environment) !== undefined) return
  const server = createServer()
  try {
    server.listen({ host, port })
    await once(server, 'listening')
  } catch (error) {
    throw addressError(error, { host, port })
  }
  server.close()
  await once(server, 'close')
}

function addressError(error: unknown, { host, port }: Pick<Settings, 'host' | 'port'>): unknown {
  const code = errorCodeOf(error)
  if (code === 'EADDRINUSE')
    return new StartError([`Port ${port} on ${host} is in use: stop the program that uses it or set QUARTERDECK_PORT`])
  if (code === 'EACCES')
    return new StartError([`Port ${port} on ${host} may not be opened by this user: set QUARTERDECK_PORT`])
  // EINVAL: a link-local address without its interface. EAFNOSUPPORT: one of IPv6, which the machine lacks.
  if (['EADDRNOTAVAIL', 'ENOTFOUND', 'EINVAL', 'EAFNOSUPPORT'].includes(code ?? ''))
    return new StartError([`${host} is not an address of this machine: correct QUARTERDECK_HOST`])
  return error
}

/**
 * Warns if other machines use the platform and an instance could take its port while it restarts. The instance would
 * then receive everything that browsers or a proxy send, including sessions.
 */
export async function warnOfFreePort(
  port: number,
  { host, trustedProxies, runtime }: Pick<Settings, 'host' | 'trustedProxies' | 'runtime'>,
  isolation: Runtime['isolation'],
  log: Pick<Logger, 'warn'>,
): Promise<void> {
  // Pods have networks of their own.
  if (runtime === 'kubernetes') return
  const servesOthers = isForOthers(host) || trustedProxies.length > 0
  if (!servesOthers) return
  const mayTakeAny = isolation === 'plain' && process.getuid?.() === 0
  if (mayTakeAny || port >= (await firstUnprivilegedPort()))
    log.warn(
      { port },
      'an instance may take the port of the console while the platform restarts; let systemd hold it or choose a port below 1024 (README, "Isolation")',
    )
}

const isForOthers = (host: string) => !/^(?:127\.|::1$)/.test(host)

/** ip(7): programs without privileges may listen from this port on. */
async function firstUnprivilegedPort(): Promise<number> {
  const text = await readFile('/proc/sys/net/ipv4/ip_unprivileged_port_start', 'utf8').catch(() => '1024')
  return Number(text)
}

/** @throws StartError when several sockets were passed */
function passedSocket({ LISTEN_PID, LISTEN_FDS }: Record<string, string | undefined>): number | undefined {
  // The variables may have been meant for a parent process and inherited.
  if (LISTEN_FDS === undefined || LISTEN_PID !== String(process.pid)) return undefined
  if (LISTEN_FDS !== '1') throw new StartError([`${LISTEN_FDS} sockets were passed (LISTEN_FDS): pass one`])
  return FIRST_PASSED_FD
}
