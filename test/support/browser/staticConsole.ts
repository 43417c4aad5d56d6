import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { extname, join } from 'node:path'

const WEB = join(__dirname, '../../../dist/web')
const TYPES: Partial<Record<string, string>> = {
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.html': 'text/html',
  '.svg': 'image/svg+xml',
}

/** Serves the built console as files, without a platform, for the tests of a file. @returns its address */
export function useStaticConsole(): () => string {
  const server = createServer((request, response) => {
    const path = new URL(request.url ?? '/', 'http://x').pathname
    try {
      const body = readFileSync(join(WEB, path === '/' ? 'index.html' : path))
      const type = TYPES[extname(path) || '.html'] ?? 'application/octet-stream'
      response.writeHead(200, { 'content-type': type }).end(body)
    } catch {
      response.writeHead(404).end()
    }
  })
  beforeAll(() => new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve)))
  afterAll(() => server.close())
  return () => `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}
