import { createServer, type Server } from 'node:https'
import type { IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { writeKubeconfig } from './kubeconfig'

/** For 127.0.0.1 and these tests only; valid from 2000 to 2126, so that the clock does not matter. */
const KEY = `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgy/jJBcsRPepEoUVm
AqwxExpkqPYCn3tZixtzBnqCzzmhRANCAAQVrn+7PjD2s/d9m+PNT9agqYMWC41P
nreJVkMHUOHC7dKHaeoXj1kqBiOHFNPxvymNR7EnkvUuhndwxarqvtAs
-----END PRIVATE KEY-----
`
const CERTIFICATE = `-----BEGIN CERTIFICATE-----
MIIBXDCCAQKgAwIBAgIBATAKBggqhkjOPQQDAjAUMRIwEAYDVQQDDAkxMjcuMC4w
LjEwIBcNMDAwMTAxMDAwMDAwWhgPMjEyNjEwMjcwOTMxMDJaMBQxEjAQBgNVBAMM
CTEyNy4wLjAuMTBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABBWuf7s+MPaz932b
481P1qCpgxYLjU+et4lWQwdQ4cLt0odp6hePWSoGI4cU0/G/KY1HsSeS9S6Gd3DF
quq+0CyjQzBBMB0GA1UdDgQWBBRQPUdoI7akjL9wwZRhm4Q0SfTY+TAPBgNVHRMB
Af8EBTADAQH/MA8GA1UdEQQIMAaHBH8AAAEwCgYIKoZIzj0EAwIDSAAwRQIgHZ1v
xK/WyUSDz88EINQgeMsl3ets3fl3qMgPTYxy7acCIQCfakWnRNpl/TgO1bc+9UtQ
KkMUxFz1zoef8IBzlSUTIA==
-----END CERTIFICATE-----
`

const TOKEN = 'the-platforms-own-token'

interface ApiRequest {
  method: string
  path: string
  body: unknown
}

interface Thing {
  metadata: { name: string; labels?: Record<string, string> }
}

/** A small Kubernetes API server with TLS: service accounts, their tokens, cluster role bindings. */
export class KubernetesApi {
  readonly requests: ApiRequest[] = []
  readonly things = new Map<string, Thing>()
  /** The status with which it refuses requests that match `METHOD path`. */
  refuse: { what: RegExp; status: number } | undefined
  /** A raw text that it sends instead of a valid response. */
  lie: { what: RegExp; status: number; text: string } | undefined
  isHanging = false
  issued = 0
  private server: Server | undefined

  async start(directory: string): Promise<{ kubeconfig: string }> {
    const server = createServer({ key: KEY, cert: CERTIFICATE }, (request, response) => {
      void this.answer(request).then((answer) => {
        if (!answer) return
        response.writeHead(answer.status, { 'content-type': 'application/json' })
        response.end(answer.text ?? JSON.stringify(answer.body))
      })
    })
    this.server = server
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const cluster = {
      server: `https://127.0.0.1:${(server.address() as AddressInfo).port}`,
      'certificate-authority-data': Buffer.from(CERTIFICATE).toString('base64'),
    }
    return { kubeconfig: writeKubeconfig(directory, cluster, { token: TOKEN }, 'panel') }
  }

  async stop(): Promise<void> {
    // First: a connection that is accepted in between would keep it open.
    const closed = new Promise((resolve) => this.server?.close(resolve))
    this.server?.closeAllConnections()
    await closed
  }

  private async answer(
    request: IncomingMessage,
  ): Promise<{ status: number; body?: unknown; text?: string } | undefined> {
    const { method = '', url: path = '', headers } = request
    const text = (await request.toArray()).join('')
    const body: unknown = text === '' ? undefined : JSON.parse(text)
    this.requests.push({ method, path, body })
    if (this.isHanging) return undefined
    if (headers.authorization !== `Bearer ${TOKEN}`) return status(401, 'Unauthorized')
    if (this.refuse?.what.test(`${method} ${path}`))
      return status(this.refuse.status, `refused with canary-body ${this.refuse.status}`)
    if (this.lie?.what.test(`${method} ${path}`)) return this.lie
    const accounts = '/api/v1/namespaces/panel/serviceaccounts'
    const bindings = '/apis/rbac.authorization.k8s.io/v1/clusterrolebindings'
    if (method === 'POST' && (path === accounts || path === bindings)) {
      const key = `${path}/${(body as Thing).metadata.name}`
      if (this.things.has(key)) return status(409, 'already exists')
      this.things.set(key, body as Thing)
      return { status: 201, body }
    }
    if (method === 'POST' && path.endsWith('/token')) {
      if (!this.things.has(path.slice(0, -'/token'.length))) return status(404, 'serviceaccounts not found')
      this.issued += 1
      const { spec } = body as { spec: { expirationSeconds: number } }
      const expirationTimestamp = new Date(Date.now() + spec.expirationSeconds * 1000)
        .toISOString()
        .replace(/\.\d+Z$/, 'Z')
      return {
        status: 201,
        body: { ...(body as object), status: { token: `dashboard-token-${this.issued}`, expirationTimestamp } },
      }
    }
    const thing = this.things.get(path)
    if (!thing) return status(404, 'not found')
    if (method === 'DELETE') this.things.delete(path)
    return method === 'DELETE'
      ? { status: 200, body: { kind: 'Status', status: 'Success' } }
      : { status: 200, body: thing }
  }
}

function status(code: number, message: string): { status: number; body: unknown } {
  return { status: code, body: { kind: 'Status', apiVersion: 'v1', status: 'Failure', message, code } }
}
