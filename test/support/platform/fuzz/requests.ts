import type { z } from 'zod'
import type { CollectedRoute } from '../collectRoutes'
import { mutate, type Random } from './random'
import { anyJson, anyText, valueOf } from './values'

export interface FuzzedRequest {
  method: string
  path: string
  headers: Record<string, string | string[]>
  body: Buffer | undefined
}

const CONTENT_TYPES = [
  'Application/JSON',
  'application/json;charset=utf-16',
  'application/json; charset="',
  'application/json;',
  'application/problem+json',
  'text/plain',
  'text/json',
  'application/x-www-form-urlencoded',
  'multipart/form-data',
  'multipart/form-data; boundary=',
  'multipart/form-data; boundary=x',
  'application/octet-stream',
  'x',
  '/',
  ';',
  'application/json, text/plain',
  'application/json\t',
]
const HEADERS: [string, string[]][] = [
  [
    'range',
    [
      'bytes=0-',
      'bytes=-1',
      'bytes=5-1',
      'bytes=0-0,1-1',
      'bytes=99999999999999999999-',
      'bytes=',
      'x',
      'bytes=-0',
      'bytes=0-18446744073709551616',
    ],
  ],
  ['if-none-match', ['*', '""', 'W/"1"', '"x", "y"', 'x']],
  ['if-range', ['""', 'W/"1"', 'Thu, 01 Jan 1970 00:00:00 GMT', 'x']],
  ['if-modified-since', ['Thu, 01 Jan 1970 00:00:00 GMT', 'x', '99999999999']],
  ['accept-encoding', ['gzip', 'br;q=0', '*', 'gzip;q=x', '']],
  ['accept', ['text/html', '*/*', 'x', 'application/json;q=2']],
  ['x-forwarded-for', ['1.2.3.4', 'x', '::1', '1.2.3.4, , 5', ','.repeat(500)]],
  ['content-encoding', ['gzip', 'identity', 'x']],
  ['expect', ['100-continue', 'x']],
  ['cookie', ['token=x', 'token', 'token=%', 'a=b; token=; token=y', '=;=;']],
  ['host', ['x', '', 'a:b:c', '[::1]:1', '127.0.0.1:0']],
  ['origin', ['null', 'http://evil.example', 'x']],
  ['upgrade', ['websocket', 'h2c', 'x']],
  ['transfer-encoding', ['identity']],
  ['x-http-method-override', ['DELETE']],
]

/**
 * A request to a route, whose parameters, query, headers and body mostly follow its schema. @param token of a user who
 * may call it
 */
export function requestTo(random: Random, { method, url, schema }: CollectedRoute, token: string): FuzzedRequest {
  const { params, querystring, body } = (schema ?? {}) as {
    params?: z.ZodType
    querystring?: z.ZodType
    body?: z.ZodType
  }
  const fields = params ? (valueOf(random, params) as Record<string, unknown> | null) : null
  const path = url.replaceAll(/:(\w+)/g, (_match, name: string) => segment(random, fields?.[name]))
  const query =
    querystring || random.chance(0.03)
      ? queryOf(random, querystring ? valueOf(random, querystring) : anyJson(random))
      : ''
  const headers = headersFor(random, token)
  const hasBody = !['GET', 'HEAD'].includes(method) ? body !== undefined || random.chance(0.2) : random.chance(0.03)
  const payload = hasBody ? bodyFor(random, body) : undefined
  if (payload && random.chance(0.97))
    headers['content-type'] = random.chance(0.9) ? 'application/json' : random.pick(CONTENT_TYPES)
  return {
    method: random.chance(0.98) ? method : random.pick(['HEAD', 'OPTIONS', 'PUT', 'TRACE', 'PROPFIND']),
    path: path + query,
    headers,
    body: payload,
  }
}

function segment(random: Random, value: unknown): string {
  const text = typeof value === 'string' || typeof value === 'number' ? String(value) : anyText(random)
  // Unencoded: characters that are valid in a request line but change its meaning.
  if (random.chance(0.05)) return text.replaceAll(/[^\x21-\x7e]/g, '') || '%'
  return encodeURIComponent(text.toWellFormed()) || 'x'
}

function queryOf(random: Random, value: unknown): string {
  const entries =
    typeof value === 'object' && value !== null ? Object.entries(value) : [[anyText(random), anyText(random)] as const]
  const encoded = (part: unknown) =>
    encodeURIComponent((typeof part === 'string' ? part : (JSON.stringify(part) ?? '')).toWellFormed())
  const pairs = entries.map(([name, content]) => `${encoded(name)}=${encoded(content)}`)
  if (random.chance(0.05)) pairs.push(...pairs)
  if (random.chance(0.03)) pairs.push('%', '=', '&&', 'a[b]=c', '%ff=%fe')
  return `?${pairs.join('&')}`.slice(0, 12_000)
}

function headersFor(random: Random, token: string): FuzzedRequest['headers'] {
  const headers: FuzzedRequest['headers'] = {}
  const authority = random.next()
  if (authority < 0.92) headers.authorization = `Bearer ${token}`
  else if (authority < 0.96)
    headers.authorization = random.pick([
      'Bearer',
      'Bearer ',
      'Bearer x',
      'Basic YTpi',
      `Bearer ${token} `,
      `bearer ${token}x`,
      `Bearer ${'a.'.repeat(2000)}`,
    ])
  while (random.chance(0.15)) {
    const [name, values] = random.pick(HEADERS)
    headers[name] = random.pick(values)
  }
  return headers
}

function bodyFor(random: Random, schema: z.ZodType | undefined): Buffer {
  const kind = random.next()
  const value = schema && kind < 0.85 ? valueOf(random, schema) : anyJson(random)
  const text = Buffer.from(JSON.stringify(value) ?? '')
  if (kind < 0.88) return text
  if (kind < 0.96) return mutate(random, text)
  if (kind < 0.97) return Buffer.from('['.repeat(20_000))
  if (kind < 0.98) return Buffer.from(`{"a":${'{"a":'.repeat(5000)}1${'}'.repeat(5001)}`)
  if (kind < 0.985) return Buffer.alloc(1_200_000, 0x20)
  return random.bytes(random.int(200))
}
