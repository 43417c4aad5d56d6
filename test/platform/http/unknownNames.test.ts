import { usePlatform } from '../../support/platform/startPlatform'

const { platform, account: first } = usePlatform('first')

test('security 15: an unknown user, invite, database, deployment or session gets 404', async () => {
  const { token } = first()
  const unknown: ['DELETE' | 'PATCH', string, object?][] = [
    ['DELETE', '/api/invite-codes/nothing'],
    ['DELETE', '/api/users/99999'],
    ['DELETE', '/api/users/99999999999999'],
    ['PATCH', '/api/users/99999/admin', { is_admin: true }],
    ['PATCH', '/api/users/99999/password', { password: 'long enough' }],
    ['DELETE', '/api/database/sql/nothing'],
    ['PATCH', '/api/database/sql/nothing'],
    ['DELETE', '/api/deployments/nothing'],
    ['DELETE', '/api/sessions/00000000-0000-4000-8000-000000000000'],
  ]
  for (const [method, url, body] of unknown)
    expect({ url, ...(await platform().call(method, url, { token, body })) }).toMatchObject({
      url,
      status: 404,
      body: { code: 'NOT_FOUND' },
    })
})

test('security 15: an unknown deployment gets 404', async () => {
  const { token } = await platform().register('curious')
  expect(await platform().call('GET', '/api/deployments/nothing/instances', { token })).toMatchObject({
    status: 404,
    body: { code: 'NOT_FOUND', message: 'There is no deployment named "nothing".' },
  })
})

test('an unknown call gets a 404 in the standard error format and reveals nothing', async () => {
  expect(await platform().call('GET', '/api/nothing')).toMatchObject({
    status: 404,
    body: { success: false, code: 'NOT_FOUND' },
  })
})
