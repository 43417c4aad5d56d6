import { copyFileSync, mkdirSync, rmSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { generateApiTypes, packageProgram, runScript } from '../../../support/platform/apiTypes'
import { testPostgres, useEmptyPlatform } from '../../../support/platform/startPlatform'

jest.setTimeout(120_000)

const root = join(__dirname, '../../../..')
const program = join(root, 'test/support/client')
/** Below the root, where the program finds its packages. */
const directory = join(root, '.cache/client')

const platform = useEmptyPlatform(() => ({ sql: testPostgres() }))

beforeAll(async () => {
  await platform().app.listen({ host: '127.0.0.1', port: 0 })
  rmSync(directory, { recursive: true, force: true })
  mkdirSync(directory, { recursive: true })
})

test('a client generated from the description fits its types and walks through the product', async () => {
  await generateApiTypes(platform(), directory)
  for (const name of ['walk.mts', 'tsconfig.json']) copyFileSync(join(program, name), join(directory, name))
  await runScript(directory, packageProgram('tsc'), '--project', 'tsconfig.json')

  const { username, password, secret } = await platform().register('walker')
  const account = { username, password, code: await platform().nextCode(secret) }
  const { port } = platform().app.server.address() as AddressInfo
  const output = await runScript(directory, 'walk.mjs', `http://127.0.0.1:${port}`, JSON.stringify(account))
  expect(output.trim().split('\n')).toEqual([
    'signIn',
    'useDeployments',
    'useInstances',
    'useKeys',
    'useFiles',
    'useDatabases',
    'signOut',
  ])
})
