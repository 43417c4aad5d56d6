import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { rightsOf, type RightsOf } from '../support/platform/limitedUsers'
import { testPostgres, usePlatform } from '../support/platform/startPlatform'
import { useTemporaryDirectory } from '../support/platform/temporaryDirectory'
import { commandLine } from './runCli'

const PROGRAM = `
console.log('Ready')
require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
  if (line === 'stop') process.exit(0)
  if (line === 'attack') console.log('\\x1b]0;owned\\x07\\x1b[2J\\x1b[31mred\\x1b[0m\\x9b5n\\u202eend')
  else console.log('heard ' + line)
})`

/** The definition of a deployment that answers its console. */
export const definition = (name: string, more = '') =>
  `name: ${name}\ntype: process\ndataDirectory: /${name}\nrun:\n  command: [node, -e, ${JSON.stringify(PROGRAM)}]\nready: Ready\nstop: { command: stop, timeoutSeconds: 5 }\n${more}`

/** Starts a platform with a running deployment `echo`, and a key for command lines, for the tests of a file. */
export function useEchoDeployment() {
  // Below a path, as beside other applications.
  const { platform, account: admin } = usePlatform('ann', () => ({
    sql: testPostgres(),
    environment: { QUARTERDECK_PUBLIC_URL: 'http://127.0.0.1/console' },
  }))
  let rights: RightsOf
  let server: string
  let key: string
  const directory = useTemporaryDirectory()
  const at = (name: string) => join(directory(), name)
  /** Signed in by its environment. */
  const withKey = (given = key) => commandLine(at('nowhere'), { QUARTERDECK_SERVER: server, QUARTERDECK_KEY: given })

  beforeAll(async () => {
    server = `${await platform().app.listen({ host: '127.0.0.1', port: 0 })}/console`
    rights = rightsOf(platform(), admin())
    const scopes = ['read', 'console', 'power', 'files', 'configuration', 'databases'] as const
    key = await rights.createKey(admin(), { scopes: [...scopes] })
    writeFileSync(at('echo.yaml'), definition('echo'))
    await withKey().ok('apply', '-f', at('echo.yaml'), '--yes')
    await withKey().ok('start', 'echo')
  })

  return {
    at,
    withKey,
    server: () => server,
    key: () => key,
    createKey: (change: Parameters<RightsOf['createKey']>[1]) => rights.createKey(admin(), change),
    shared: (path: string) => join(platform().dataDir, 'nfsshare', path),
    podNameOf: async (name: string) =>
      (JSON.parse(await withKey().ok('ps', name, '--json')) as { instances: { podName: string }[] }[])[0]!.instances[0]!
        .podName,
  }
}
