import { createServer } from 'node:net'
import { StartError } from '../errors'

const RANGE = 500

/**
 * The first port of 127.0.0.1 that nobody listens on.
 * @param from where to look first
 * @throws StartError when 500 ports in a row are taken.
 */
export async function freePort(from: number): Promise<number> {
  for (let port = from; port < from + RANGE; port++) if (await isFreePort(port)) return port
  throw new StartError([`No port of this machine is free from ${from} to ${from + RANGE - 1}`])
}

/** Whether a port of 127.0.0.1 can be listened on at this moment. */
export async function isFreePort(port: number): Promise<boolean> {
  const server = createServer()
  const isFree = await new Promise<boolean>((resolve) => {
    server.once('error', () => resolve(false)).listen(port, '127.0.0.1', () => resolve(true))
  })
  await new Promise((resolve) => server.close(resolve))
  return isFree
}
