import { createServer } from 'node:net'

/** Below the range of ephemeral ports and separate for each worker, so that a port stays free until it is used. */
const FIRST = 20_000
const EACH = 200
let next = FIRST + EACH * Number(process.env.JEST_WORKER_ID ?? 0)

export async function freePort(): Promise<number> {
  for (;;) {
    const port = next++
    const server = createServer()
    const isFree = await new Promise<boolean>((resolve) =>
      server.once('error', () => resolve(false)).listen(port, '127.0.0.1', () => resolve(true)),
    )
    await new Promise((resolve) => server.close(resolve))
    if (isFree) return port
  }
}
