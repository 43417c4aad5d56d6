import type { AddressInfo } from 'node:net'
import { startApiServer } from '../../../support/platform/apiServer'
import { writeKubeconfig } from '../../../support/platform/kubeconfig'
import { useTemporaryDirectory } from '../../../support/platform/temporaryDirectory'

const root = useTemporaryDirectory()

afterEach(() => jest.restoreAllMocks())

test('after the server has refused the credentials, those of a corrected kubeconfig are used within five seconds', async () => {
  let ahead = 0
  const now = performance.now.bind(performance)
  jest.spyOn(performance, 'now').mockImplementation(() => now() + ahead)
  const tokens: (string | undefined)[] = []
  const api = await startApiServer(root(), ({ headers }, response) => {
    tokens.push(headers.authorization)
    const isRight = headers.authorization === 'Bearer right'
    response.setHeader('content-type', 'application/json')
    response.writeHead(isRight ? 200 : 401).end(isRight ? '{"items": []}' : '{"kind": "Status"}')
  })
  try {
    const list = () => api.client.call((core) => core.listNamespacedPod({ namespace: 'games' }))
    const server = `http://127.0.0.1:${(api.server.address() as AddressInfo).port}`
    await expect(list()).rejects.toMatchObject({ status: 401 })
    writeKubeconfig(root(), { server }, { token: 'right' })
    ahead = 5000
    await expect(list()).resolves.toMatchObject({ items: [] })
    // From then on, it is read once a minute.
    writeKubeconfig(root(), { server }, { token: 'other' })
    ahead = 15_000
    await expect(list()).resolves.toMatchObject({ items: [] })
    expect(tokens).toEqual([undefined, 'Bearer right', 'Bearer right'])
  } finally {
    api.close()
  }
})
