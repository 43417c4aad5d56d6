import { connect, type Socket } from 'node:net'
import { startProduct } from '../support/browser/startProduct'
import { percentile } from './figures/percentile'
import { registerAccount } from '../support/platform/registerAccount'

/** security 54: measures whether sign-in works while thousands of connections never finish their request header. */
const SOCKETS = Number(process.env.BENCH_SOCKETS ?? 10_000)
const LOGINS = 100
/** The interval at which each of them sends another byte of its header. */
const DRIP_MS = 5000

let people = 0

/** Every call uses another address, because of the limits per address. */
async function post(url: string, path: string, body: unknown): Promise<Record<string, string>> {
  const answer = await fetch(`${url}/api/auth/${path}`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      connection: 'close',
      'x-forwarded-for': `10.0.${++people >> 8}.${people & 255}`,
    },
    body: JSON.stringify(body),
  })
  const { data, message } = (await answer.json()) as { data: Record<string, string>; message?: string }
  if (!answer.ok) throw new Error(`${path}: ${message}`)
  return data
}

/** Opens a connection that is accepted and sends slowly; undefined if it is refused. */
function open(port: number): Promise<Socket | undefined> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => resolve(socket))
    socket.on('error', () => resolve(undefined))
    socket.write('GET / HTTP/1.1\r\nHost: x\r\nX-Slow: ')
  })
}

async function main(): Promise<void> {
  const product = await startProduct({ QUARTERDECK_SAMPLE: 'off', QUARTERDECK_TRUSTED_PROXIES: '127.0.0.1' })
  const sockets: Socket[] = []
  try {
    const { url, inviteCode } = product
    const account = { username: 'bench', password: 'correct horse battery' }
    await registerAccount((path, body) => post(url, path, body), inviteCode, account)

    const measure = async (name: string) => {
      const times: number[] = []
      for (let login = 0; login < LOGINS; login++) {
        const begun = performance.now()
        await post(url, 'login', account)
        times.push(performance.now() - begun)
      }
      console.log(
        `${LOGINS} logins ${name}: p50 ${percentile(times, 50)}, p99 ${percentile(times, 99)}, longest ${percentile(times, 100)}`,
      )
    }
    await measure('with nobody else')

    const port = Number(new URL(url).port)
    while (sockets.length < SOCKETS) {
      const opened = (
        await Promise.all(Array.from({ length: Math.min(200, SOCKETS - sockets.length) }, () => open(port)))
      ).filter((socket) => socket !== undefined)
      if (opened.length === 0) break
      sockets.push(...opened)
    }
    const drip = setInterval(() => {
      for (const socket of sockets) if (socket.writable) socket.write('x')
    }, DRIP_MS)
    console.log(`${sockets.length} connections with a header that never ends`)
    await measure('beside them')
    clearInterval(drip)
    console.log(`${sockets.filter(({ destroyed }) => !destroyed).length} of them are still open`)
  } finally {
    for (const socket of sockets) socket.destroy()
    await product.stop()
    await product.close()
  }
}

void main()
