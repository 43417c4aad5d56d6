import { once } from 'node:events'
import { createServer, request, type IncomingMessage, type RequestOptions } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface PathProxy {
  origin: string
  /** Requests outside of the path, which a proxy of several applications would send to another one. */
  strays: string[]
  close(): Promise<void>
}

/**
 * A reverse proxy that serves another server below a path, as in the nginx example.
 * @param target returns the port of the other server; called for each request
 * @param removes whether the path is removed before a request is passed on
 */
export async function startPathProxy(path: string, target: () => number, removes: boolean): Promise<PathProxy> {
  const strays: string[] = []
  const optionsOf = ({ url = '', method, headers }: IncomingMessage): RequestOptions | undefined => {
    if (url === path || url.startsWith(`${path}/`))
      return { port: target(), method, headers, path: (removes && url.slice(path.length)) || (removes ? '/' : url) }
    // Browsers ask each origin for its icon.
    if (url !== '/favicon.ico') strays.push(url)
    return undefined
  }

  const server = createServer((asked, answer) => {
    const options = optionsOf(asked)
    if (!options) return void answer.writeHead(404).end()
    const passed = request(options, (response) => {
      answer.writeHead(response.statusCode!, response.headers)
      response.pipe(answer)
    })
    passed.on('error', () => answer.destroy())
    answer.on('close', () => passed.destroy())
    asked.pipe(passed)
  })
  server.on('upgrade', (asked, client, head) => {
    const options = optionsOf(asked)
    if (!options) return void client.destroy()
    const passed = request(options)
    client.on('error', () => passed.destroy())
    passed.on('error', () => client.destroy())
    passed.on('response', ({ statusCode }) => client.end(`HTTP/1.1 ${statusCode} Refused\r\n\r\n`))
    passed.on('upgrade', ({ rawHeaders }, upstream, first) => {
      const lines = rawHeaders.flatMap((name, at) => (at % 2 === 0 ? [`${name}: ${rawHeaders[at + 1]}`] : []))
      client.write(`HTTP/1.1 101 Switching Protocols\r\n${lines.join('\r\n')}\r\n\r\n`)
      client.write(first)
      upstream.write(head)
      upstream.on('error', () => client.destroy())
      client.on('close', () => upstream.destroy())
      upstream.on('close', () => client.destroy())
      upstream.pipe(client).pipe(upstream)
    })
    passed.end()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    strays,
    async close() {
      server.close()
      server.closeAllConnections()
    },
  }
}
