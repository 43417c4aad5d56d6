import { join } from 'node:path'
import { usePlatform, type Answer } from './startPlatform'

/** Starts a platform for the tests of a file, with an administrator who makes the calls about deployments. */
export function useDeploymentCalls() {
  const { platform, account: ann } = usePlatform('ann')

  const call = (method: 'GET' | 'POST' | 'PATCH' | 'DELETE', path: string, body?: unknown): Promise<Answer> =>
    platform().call(method, `/api/deployments${path}`, { body, token: ann().token })

  return {
    platform,
    ann,
    call,
    shareDir: () => join(platform().dataDir, 'nfsshare'),
    /** The text of a deployment. */
    contentOf: async (name: string) => String((await call('GET', `/${name}`)).body.data.content),
    /** The states of the instances of a deployment. */
    statesOf: async (name: string) =>
      ((await call('GET', `/${name}/instances`)).body.data.instances as { state: string }[]).map(({ state }) => state),
  }
}
