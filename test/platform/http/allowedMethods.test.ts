import { useEmptyPlatform } from '../../support/platform/startPlatform'

const platform = useEmptyPlatform()

test('a call that exists with other methods answers 405 with these methods, before its body is read', async () => {
  for (const [method, url, allow] of [
    ['POST', '/api/users?x=1', 'GET, HEAD'],
    ['PATCH', '/api/deployments', 'GET, HEAD, POST'],
    ['POST', '/api/deployments/lobby', 'DELETE, GET, HEAD, PATCH'],
  ] as const) {
    const { status, headers, body } = await platform().call(method, url, { body: 'not JSON' })
    expect({ url, status, allow: headers.allow, code: body.code }).toEqual({
      url,
      status: 405,
      allow,
      code: 'METHOD_NOT_ALLOWED',
    })
  }
})

test('a call that exists with no method answers 404', async () => {
  for (const url of ['/api/nothing', '/api/deployments/a/b/c', '/api'])
    expect((await platform().call('GET', url)).status).toBe(404)
})

test('security 177: the path of an unknown call is split once for all calls, however many slashes it has', async () => {
  const path = `/api/${'/'.repeat(10_000)}`
  const split = jest.spyOn(String.prototype, 'split')
  const { status } = await platform().call('GET', path)
  const ofPath = split.mock.contexts.filter((text) => String(text) === path)
  split.mockRestore()
  expect(status).toBe(404)
  // Also by what is done for every request; but not for each of nearly a hundred calls.
  expect(ofPath.length).toBeLessThan(10)
})
