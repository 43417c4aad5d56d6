/** @jest-environment node */
import { createHash } from 'node:crypto'
import { draftTyped } from '../../../src/web/features/deployments/configuration/configurationSlice'
import { filterTyped } from '../../../src/web/features/files/filesSlice'
import {
  type Action,
  call,
  codeEntered,
  expectHidden,
  exported,
  later,
  lines,
  SECRET,
} from '../../support/web/exportedLog'

test.each<[string, Action]>([
  [
    'an error message',
    call('restartDeployment', 'world', 'rejected', {
      status: 500,
      message: `cannot connect to postgres://root:${SECRET}@db/game`,
    }),
  ],
  [
    'the error message of one file',
    call('deleteFiles', [{ path: '/nfsshare/a' }], 'rejected', {
      status: 500,
      failed: [{ path: '/nfsshare/a', message: `token=${SECRET}` }],
    }),
  ],
  [
    'the exit reason of an instance',
    call('getInstances', 'world', 'fulfilled', [
      { uid: 'u', name: 'world', lastExit: { reason: `--password ${SECRET} is no option` } },
    ]),
  ],
  [
    'the ready condition of an instance',
    call('getInstances', 'world', 'fulfilled', [
      { uid: 'u', name: 'world', lateStart: { waitingFor: `password=${SECRET}` } },
    ]),
  ],
  [
    'a warning',
    call('getDeploymentConfig', 'world', 'fulfilled', {
      content: 'name: world',
      warnings: [`run.args: password ${SECRET}`],
    }),
  ],
  [
    'a description of several lines',
    call('getDeployments', undefined, 'fulfilled', [
      { name: 'world', description: `A world.\nThe password is ${SECRET}` },
    ]),
  ],
  [
    'a description',
    call('getDeployments', undefined, 'fulfilled', [{ name: 'world', description: `the password is ${SECRET}` }]),
  ],
  [
    'a description in a definition',
    draftTyped({ name: 'world', text: `name: world\ndescription: the password is ${SECRET}\n` }),
  ],
  [
    'a notification',
    { type: 'notifications/notified', payload: { id: '1', type: 'danger', message: `password: ${SECRET}` } } as Action,
  ],
  ['an invite', { type: 'admin/inviteMessageTyped', payload: `password: ${SECRET}` } as Action],
])('text from the server that looks like a secret is masked: %s', (_where, action) => expectHidden([action], /hunter2/))
test('a secret found in an error message is masked in the output', () =>
  expectHidden(
    [
      call('restartDeployment', 'world', 'rejected', { status: 500, message: `postgres://root:${SECRET}@db/game` }),
      lines(`I am ${SECRET}`),
    ],
    /hunter2secret/,
    true,
  ))

test('an error message is masked when the password starts with the username', () =>
  expectHidden(
    [call('login', { username: 'hunter', password: SECRET }, 'rejected', { status: 400, message: `odd: ${SECRET}` })],
    /2secret/,
  ))
test('the username of a failed sign-in is masked in other places', () =>
  expectHidden(
    [
      call('login', { username: SECRET, password: 'another-word' }, 'rejected', { status: 401, message: 'no' }),
      filterTyped(SECRET),
    ],
    /hunter2secret/,
  ))

test('the ETag of a directory listing is left out, because it is a hash of masked names', () => {
  const files = (name: string) =>
    `{"success":true,"data":{"files":[{"path":"/nfsshare/${name}","name":"${name}"}],"deploymentTypeIndex":null}}`
  const version = (name: string) => `"${createHash('sha1').update(files(name)).digest('base64url')}"`
  const { log } = exported(
    [
      codeEntered('773177'),
      call('getFiles', '/nfsshare', 'fulfilled', {
        files: [{ path: '/nfsshare/773177', name: '773177' }],
        deploymentTypeIndex: null,
        version: version('773177'),
      }),
    ],
    false,
  )
  const recorded = (
    log.actions.find(({ type }) => type === 'api/executeQuery/fulfilled')!.payload as { version?: string }
  ).version
  const guessed = Array.from({ length: 5000 }, (_, index) => String(770_000 + index)).find(
    (guess) => version(guess) === recorded,
  )
  expect(guessed).toBeUndefined()
})

test('the ETag of the overview is left out, because it is a hash of masked values', () => {
  const overview = { managerSilent: false, sections: [], version: '"VG18r3dcGAlF953m0UwjUl_BCZE"' }
  expectHidden([call('getOverview', null, 'fulfilled', overview), ...later], /VG18r3dc/)
})

test('an ID that looks like a secret is kept, so that a replay removes the right notification', () => {
  const id = 'T304EhSBaMxSfaD7O98bR'
  const { log } = exported(
    [
      { type: 'notifications/notified', payload: { id, type: 'success', message: 'Done' } } as Action,
      { type: 'notifications/dismissed', payload: id } as Action,
    ],
    false,
  )
  expect(log.final.notifications).toEqual([])
})

test('a file name that looks like a secret is kept, so that pages find their data', () => {
  const name = 'password list.txt'
  const { log } = exported(
    [
      call('getFiles', `/nfsshare/${name}`, 'fulfilled', {
        files: [{ path: `/nfsshare/${name}/log in`, name: 'log in', type: 'd' }],
        deploymentTypeIndex: null,
      }),
    ],
    false,
  )
  const action = log.actions[0] as { payload: { files: object[] }; meta: { arg: object } }
  expect(action.meta.arg).toMatchObject({
    originalArgs: `/nfsshare/${name}`,
    queryCacheKey: `getFiles("/nfsshare/${name}")`,
  })
  expect(action.payload.files).toEqual([{ path: `/nfsshare/${name}/log in`, name: 'log in', type: 'd' }])
})
