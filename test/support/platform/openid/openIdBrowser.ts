import type { InjectOptions } from 'fastify'
import type { TestPlatform } from '../startPlatform'
import { CLIENT } from './identityProvider'

/** As the requests of tests have it. */
export const CONSOLE = 'http://localhost'
export const REDIRECT_URI = `${CONSOLE}/api/auth/oidc/callback`

export const openIdEnvironment = (issuer: string) => ({
  QUARTERDECK_OIDC_ISSUER: issuer,
  QUARTERDECK_OIDC_CLIENT_ID: CLIENT.id,
  QUARTERDECK_OIDC_CLIENT_SECRET: CLIENT.secret,
  QUARTERDECK_OIDC_ROLES: 'admins=administrator,staff=operator,guests=limited',
  QUARTERDECK_OIDC_NAME: 'Harbour',
})

/** A browser that makes requests to the console and keeps its cookies. */
export function openBrowser(platform: TestPlatform) {
  const cookies = new Map<string, string>()
  const headersOf = () => ({ cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join('; ') })

  /** @returns where it is led to, and the cookies that were set */
  async function open(url: string, headers: InjectOptions['headers'] = {}) {
    const answer = await platform.app.inject({ url: url.replace(CONSOLE, ''), headers: { ...headersOf(), ...headers } })
    const set = [answer.headers['set-cookie'] ?? []].flat()
    keep(set)
    return { status: answer.statusCode, to: String(answer.headers.location), set }
  }

  function keep(set: readonly string[]): void {
    for (const cookie of set) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(cookie) ?? []
      if (value === '') cookies.delete(name)
      else cookies.set(name, value)
    }
  }

  return { cookies, open, keep, token: () => cookies.get('token') }
}
