import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { exportJWK, generateKeyPair } from 'jose'

export const CLIENT = { id: 'quarterdeck', secret: 'a secret of the client' }

export interface IdentityProvider {
  issuer: string
  /** The claims of each account, by the login that is typed. */
  people: Map<string, Record<string, unknown>>
  /** Walks through the provider's pages from its authorization URL. @returns the URL it leads back to */
  walk(url: string, login: string): Promise<string>
  close(): Promise<void>
}

/** Starts a real OpenID Connect provider with pages for signing in and for consent. Any password is right. */
export async function startIdentityProvider(redirectUris: string[], port = 0): Promise<IdentityProvider> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const people: IdentityProvider['people'] = new Map()
  const { privateKey } = await generateKeyPair('RS256', { extractable: true })
  const said = jest.spyOn(console, 'warn').mockImplementation(() => undefined)
  const { Provider } = await import('oidc-provider')
  const provider = new Provider(issuer, {
    clients: [{ client_id: CLIENT.id, client_secret: CLIENT.secret, redirect_uris: redirectUris }],
    jwks: { keys: [{ ...(await exportJWK(privateKey)), alg: 'RS256', use: 'sig', kid: 'one' }] },
    cookies: { keys: ['a key for cookies'] },
    scopes: ['openid', 'profile', 'email', 'groups'],
    claims: {
      openid: ['sub'],
      profile: ['preferred_username', 'department', 'realm_access'],
      email: ['email'],
      groups: ['groups'],
    },
    features: { devInteractions: { enabled: true } },
    ttl: { AccessToken: 600, AuthorizationCode: 60, Grant: 600, IdToken: 600, Interaction: 600, Session: 600 },
    findAccount: (_context, id) => ({ accountId: id, claims: () => ({ sub: id, ...people.get(id) }) }),
  })
  said.mockRestore()
  const answer = provider.callback()
  server.on('request', (request, response) => void answer(request, response))
  return { issuer, people, walk, close: () => stop(server) }
}

export async function stop(server: Server): Promise<void> {
  // First: a connection that is accepted in between would keep it open.
  const closed = new Promise((resolve) => server.close(resolve))
  server.closeAllConnections()
  await closed
}

/** A browser with cookies that fills in the form of each page until it is led to another site. */
async function walk(start: string, login: string): Promise<string> {
  const cookies = new Map<string, string>()
  const { origin } = new URL(start)
  let url = new URL(start)
  let form: URLSearchParams | undefined
  for (let pages = 0; pages < 20; pages += 1) {
    const answer = await fetch(url, {
      redirect: 'manual',
      headers: { cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join('; ') },
      ...(form && { method: 'POST', body: form }),
    })
    for (const cookie of answer.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(cookie) ?? []
      cookies.set(name, value)
    }
    const location = answer.headers.get('location')
    const page = await answer.text()
    form = undefined
    if (location !== null) {
      url = new URL(location, url)
      if (url.origin !== origin) return url.href
      continue
    }
    const [, action = '', prompt = ''] = /<form[^>]* action="([^"]+)"[^]*?name="prompt" value="(\w+)"/.exec(page) ?? []
    if (action === '') throw new Error(`The provider answered ${answer.status}: ${page.slice(0, 2000)}`)
    url = new URL(action, url)
    form = new URLSearchParams({ prompt, ...(prompt === 'login' && { login, password: 'any' }) })
  }
  throw new Error('The provider leads in a circle')
}
