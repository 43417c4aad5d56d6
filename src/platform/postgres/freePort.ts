import { createServer } from 'node:net'
import { StartError } from '../errors'

const RANGE = 500

/** Returns the first free port of 127.0.0.1 from `from` on. @throws StartError when 500 ports in a row are in use */
export async function freePort(from: number): Promise<number> {
  for (let port = from; port < from + RANGE; port++) if (await isFreePort(port)) return port
  throw new StartError([`No port of this machine from ${from} to ${from + RANGE - 1} is free`])
}

/** Whether a server can listen on a port of 127.0.0.1 at the moment. */
export async function isFreePort(port: number): Promise<boolean> {
  const server = createServer()
  const isFree = await new Promise<boolean>((resolve) => {
    server.once('error', () => resolve(false)).listen(port, '127.0.0.1', () => resolve(true))
  })
  await new Promise((resolve) => server.close(resolve))
  return isFree
}
