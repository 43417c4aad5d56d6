import { execFile } from 'node:child_process'
import { copyFileSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { startPlatform, testPostgres, type TestPlatform } from '../../../support/platform/startPlatform'

jest.setTimeout(120_000)

const root = join(__dirname, '../../../..')
const program = join(root, 'test/support/client')
/** Below the root, where the program finds its packages. */
const directory = join(root, '.cache/client')

let platform: TestPlatform

beforeAll(async () => {
  platform = await startPlatform({ sql: testPostgres() })
  await platform.app.listen({ host: '127.0.0.1', port: 0 })
  rmSync(directory, { recursive: true, force: true })
  mkdirSync(directory, { recursive: true })
})
afterAll(() => platform.close())

/** Runs a program of a package. @returns its output. @throws Error with its output if it fails */
async function run(path: string, ...args: string[]): Promise<string> {
  const { stdout } = await promisify(execFile)(process.execPath, [path, ...args], { cwd: directory }).catch(
    ({ stdout, stderr }: { stdout: string; stderr: string }) => {
      throw new Error(`${path} failed:\n${stdout}${stderr}`)
    },
  )
  return stdout
}
const bin = (name: string) => join(root, 'node_modules/.bin', name)

test('a client generated from the description fits its types and walks through the product', async () => {
  const { body } = await platform.app.inject({ url: '/api/openapi.json' })
  writeFileSync(join(directory, 'openapi.json'), body)
  await run(bin('openapi-typescript'), 'openapi.json', '--output', 'schema.d.ts')
  for (const name of ['walk.mts', 'tsconfig.json']) copyFileSync(join(program, name), join(directory, name))
  await run(bin('tsc'), '--project', 'tsconfig.json')

  const { username, password, secret } = await platform.register('walker')
  const account = { username, password, code: await platform.nextCode(secret) }
  const { port } = platform.app.server.address() as AddressInfo
  const output = await run('walk.mjs', `http://127.0.0.1:${port}`, JSON.stringify(account))
  expect(output.trim().split('\n')).toEqual(['signIn', 'useDeployments', 'useFiles', 'useDatabases', 'signOut'])
})
