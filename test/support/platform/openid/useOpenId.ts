import { usePlatform } from '../startPlatform'
import { startIdentityProvider, type IdentityProvider } from './identityProvider'
import { openBrowser, openIdEnvironment, REDIRECT_URI } from './openIdBrowser'

export const START = '/api/auth/oidc/start'

/** Starts a provider and a platform, for the tests of a file, whose users sign in with it. */
export function useOpenId() {
  let provider: IdentityProvider
  beforeAll(async () => {
    provider = await startIdentityProvider([REDIRECT_URI])
  })
  const { platform, account: first } = usePlatform('first', () => ({ environment: openIdEnvironment(provider.issuer) }))
  afterAll(() => provider.close())

  return {
    platform,
    provider: () => provider,
    /** The administrator, who has a password. */
    first,
    /** The whole walk of a browser. @returns where it ends, and the session's token */
    async signIn(this: void, login: string, start = START, browser = openBrowser(platform())) {
      const { to } = await browser.open(start)
      const { to: end, status, set } = await browser.open(await provider.walk(to, login))
      return { browser, end, status, set, token: browser.token() }
    },
    accountOf: async (token: string | undefined, at = platform()) =>
      (await at.call('GET', '/api/account', { token: token ?? '' })).body.data,
  }
}
