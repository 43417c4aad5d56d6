import { join } from 'node:path'
import type { Scope, UserAccess } from '../../../src/contract/access'
import { useAccount, usePlatform, type Account, type TestPlatform } from './startPlatform'

/** Administration of rights, as one administrator makes it. */
export interface RightsOf {
  /** Makes the deployments, each with a directory and one file `own.txt`, which has its name. */
  deploy(names: string[], settings?: string): Promise<void>
  setAccess(username: string, access: UserAccess): Promise<void>
  /** @returns the key */
  createKey(by: Account, wanted: { scopes: Scope[]; deployments?: string[] }): Promise<string>
}

export function rightsOf(platform: TestPlatform, admin: Account): RightsOf {
  const call = async (method: 'GET' | 'POST' | 'PUT' | 'PATCH', url: string, body?: unknown, token = admin.token) => {
    const answer = await platform.call(method, url, { token, body })
    if (answer.status >= 300) throw new Error(`${method} ${url}: ${answer.status} ${JSON.stringify(answer.body)}`)
    return answer.body.data
  }
  return {
    async deploy(names, settings = '') {
      for (const name of names) {
        await call('POST', '/api/deployments', { name, type: 'process' })
        await call('PATCH', `/api/deployments/${name}`, {
          content: `name: ${name}\ntype: process\ndataDirectory: /${name}\nrun:\n  command: [sleep, '600']\n${settings}`,
        })
        await call('POST', '/api/sftp/file', { path: `/nfsshare/${name}/own.txt`, content: '' })
        await call('PATCH', '/api/sftp/file/content', { path: `/nfsshare/${name}/own.txt`, content: `of ${name}` })
      }
    },
    async setAccess(username, access) {
      const { users } = (await call('GET', '/api/users')) as { users: { id: number; username: string }[] }
      await call('PUT', `/api/users/${users.find((user) => user.username === username)!.id}/access`, access)
    },
    async createKey({ token }, wanted) {
      return String((await call('POST', '/api/keys', { name: 'of a test', ...wanted }, token)).key)
    },
  }
}

/**
 * Starts a platform for the tests of a file, with an administrator, these deployments and a user `guest`, whose rights
 * the tests set.
 */
export function useGuest(deployments: string[], settings?: Parameters<typeof usePlatform>[1]) {
  const { platform, account: admin } = usePlatform('admin', settings)
  const guest = useAccount(platform, 'guest')
  const rights = () => rightsOf(platform(), admin())
  beforeAll(() => rights().deploy(deployments))
  return {
    platform,
    admin,
    guest,
    rights,
    /** The path of the shared area. */
    share: () => join(platform().dataDir, 'nfsshare'),
  }
}
