import { usePlatform } from './startPlatform'
import { until } from './until'

/** Starts a platform that listens, for the tests of a file, with an instance whose console stays empty. */
export function useQuietInstance() {
  const { platform, account: ann } = usePlatform('ann')
  let origin: string
  let podName: string

  beforeAll(async () => {
    origin = await platform().app.listen({ host: '127.0.0.1', port: 0 })
    const call = (method: 'GET' | 'POST' | 'PATCH', path: string, body?: unknown) =>
      platform().call(method, `/api/deployments${path}`, { token: ann().token, body })
    await call('POST', '', { name: 'quiet', type: 'process' })
    await call('PATCH', '/quiet', {
      content:
        'name: quiet\ntype: process\ndataDirectory: /quiet\nrun: { command: ["sleep", "1000"] }\nstop: { timeoutSeconds: 1 }\n',
    })
    await call('POST', '/quiet/toggle', { enabled: true })
    const instances = async () =>
      (await call('GET', '/quiet/instances')).body.data.instances as { podName: string; state: string }[]
    podName = (await until(instances, ([instance]) => instance?.state === 'RUNNING'))[0]!.podName
  })

  return {
    platform,
    ann,
    /** The address of the platform. */
    origin: () => new URL(origin),
    /** The path of the console's socket. */
    consolePath: () => `/api/logs/quiet/${podName}`,
  }
}
