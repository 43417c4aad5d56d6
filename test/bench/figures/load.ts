import { once } from 'node:events'
import { connect } from 'node:net'
import { performance } from 'node:perf_hooks'
import { percentileOf } from './percentile'

export interface Load {
  perSecond: number
  /** In milliseconds. */
  p50: number
  p99: number
  /** Answers that were neither 2xx nor 304. */
  failed: number
  /** Bytes of the last response, with its header. */
  responseBytes: number
}

const END_OF_HEADER = Buffer.from('\r\n\r\n')

/**
 * Calls one address over connections that each send the next request when the last one was answered. It writes the same
 * bytes and looks only for the end of the response, so that the server, not this client, is what is measured.
 * @param options for how long, in milliseconds, and the pause between a response and the next request
 */
export async function load(
  url: string,
  {
    connections = 10,
    ms,
    pauseMs = 0,
    headers = {},
  }: { connections?: number; ms: number; pauseMs?: number; headers?: Record<string, string> },
): Promise<Load> {
  const { hostname, port, host, pathname, search } = new URL(url)
  const lines = Object.entries({ host, ...headers }).map(([name, value]) => `${name}: ${value}\r\n`)
  const request = Buffer.from(`GET ${pathname}${search} HTTP/1.1\r\n${lines.join('')}\r\n`)
  const times: number[] = []
  let failed = 0
  let responseBytes = 0
  const begun = performance.now()

  async function callAgainAndAgain(): Promise<void> {
    const socket = connect(Number(port), hostname)
    socket.setNoDelay(true)
    await once(socket, 'connect')
    let sentAt = performance.now()
    let received: Buffer[] = []
    /** Bytes of the response; undefined until its header has arrived. */
    let wanted: number | undefined
    let length = 0
    await new Promise<void>((resolve, reject) => {
      socket.on('error', reject)
      socket.on('close', () =>
        performance.now() - begun < ms ? reject(new Error('The server closed a connection')) : resolve(),
      )
      socket.on('data', (chunk) => {
        received.push(chunk)
        length += chunk.length
        if (wanted === undefined) {
          const all = received.length === 1 ? chunk : Buffer.concat(received)
          received = [all]
          const end = all.indexOf(END_OF_HEADER)
          if (end === -1) return
          const header = all.toString('latin1', 0, end)
          const status = header.slice(9, 12)
          if (!status.startsWith('2') && status !== '304') failed += 1
          wanted = end + 4 + (status === '304' ? 0 : Number(/\r\ncontent-length: *(\d+)/i.exec(header)?.[1] ?? NaN))
        }
        if (Number.isNaN(wanted)) return reject(new Error('The response has no Content-Length'))
        if (length < wanted) return
        const now = performance.now()
        times.push(now - sentAt)
        responseBytes = length
        received = []
        wanted = undefined
        length = 0
        if (now - begun >= ms) {
          socket.destroy()
          return
        }
        const send = () => {
          sentAt = performance.now()
          socket.write(request)
        }
        if (pauseMs > 0) setTimeout(send, pauseMs)
        else send()
      })
      socket.write(request)
    })
  }

  await Promise.all(Array.from({ length: connections }, callAgainAndAgain))
  const seconds = (performance.now() - begun) / 1000
  const perSecond = times.length / seconds
  return { perSecond, p50: percentileOf(times, 50), p99: percentileOf(times, 99), failed, responseBytes }
}
