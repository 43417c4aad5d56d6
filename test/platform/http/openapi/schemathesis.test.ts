import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { imitatedSql } from '../../../support/platform/imitatedSql'
import { startPlatform } from '../../../support/platform/startPlatform'
import { program } from '../../../support/schemathesisProgram'

const TIMEOUT_MS = 480_000
jest.setTimeout(TIMEOUT_MS + 20_000)

/**
 * Left out are calls that could end the session, the account or the rights with which all others are made, and those
 * for the Kubernetes dashboard and OpenID Connect, which answer 503 without a cluster and a provider. Sessions and
 * rights of others are those of another user. Where an input that fits its schema is refused, the rules are about more
 * than one field or about what is stored, and the refusal is a 400 (decisions §1): codes and invites, paths of the
 * shared area, definitions, the node of a persistent deployment, the expiry of a key, grants of a deployment that does
 * not exist or is named twice, the proof that a change of sign-in methods needs. For other methods, `confirm` and
 * `options` are ids, which are refused as such. The list of a user's sessions is still there, and empty, after all of
 * them were ended. A parameter that is too long makes an address that is too long.
 */
const configurationFor = (otherUser: number) => `
[checks.negative_data_rejection]
expected-statuses = ["400", "404", "413", "415", "431"]

[[operations]]
include-operation-id = [
  "logOut", "changePassword", "endSession", "endOtherSessions", "setAdministrator", "setPassword", "deleteUser",
  "getDashboardHost", "getDashboardToken", "createDashboardToken", "deleteDashboardToken",
  "connectOpenId", "disconnectOpenId",
]
enabled = false

[[operations]]
include-tag = ["Sign-in", "Files"]
checks.positive_data_acceptance.enabled = false

[[operations]]
include-operation-id = [
  "createDeployment", "saveConfiguration", "createKey", "createInviteCode", "prove", "beginAuthenticator",
  "removeAuthenticator", "createPasskey", "removePasskey", "createRecoveryCodes",
]
checks.positive_data_acceptance.enabled = false

[[operations]]
include-operation-id = ["confirmAuthenticator", "beginPasskey"]
checks.positive_data_acceptance.enabled = false
checks.unsupported_method.enabled = false

[[operations]]
include-operation-id = ["listUserSessions"]
checks.use_after_free.enabled = false

[[operations]]
include-operation-id = ["endUserSession", "endUserSessions"]
parameters = { "path.id" = ${otherUser} }

[[operations]]
include-operation-id = ["setUserAccess"]
parameters = { "path.id" = ${otherUser} }
checks.positive_data_acceptance.enabled = false
`

const path = program()
const schemathesisTest = path === undefined ? test.skip : test

schemathesisTest(
  'schemathesis finds no response that the description lacks, and no call that fails with a bug',
  async () => {
    const platform = await startPlatform({ sql: imitatedSql(), mongo: imitatedSql(), uploadLimit: 2 ** 20 })
    try {
      const { token } = await platform.register('tester')
      await platform.app.listen({ host: '127.0.0.1', port: 0 })
      const origin = `http://127.0.0.1:${(platform.app.server.address() as AddressInfo).port}`
      await platform.register('other')
      const { id } = await platform.db
        .selectFrom('users')
        .select('id')
        .where('username', '=', 'other')
        .executeTakeFirstOrThrow()
      await writeFile(join(platform.dataDir, 'schemathesis.toml'), configurationFor(id))
      const child = spawn(
        path ?? '',
        [
          'run',
          `${origin}/api/openapi.json`,
          ...['--url', origin, '--header', `Authorization: Bearer ${token}`, '--seed', '1', '--no-color'],
          ...['--max-examples', '10', '--request-timeout', '20', '--warnings', 'off'],
        ],
        { cwd: platform.dataDir, stdio: ['ignore', 'pipe', 'pipe'], timeout: TIMEOUT_MS },
      )
      const [stdout, stderr, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')])
      expect({ code: code as unknown, output: code === 0 ? '' : stdout + stderr }).toEqual({ code: 0, output: '' })
      expect((await platform.call('GET', '/api/account', { token })).status).toBe(200)
      expect(platform.logged.filter((line) => (JSON.parse(line) as { level: number }).level >= 50)).toEqual([])
    } finally {
      await platform.close()
    }
  },
)
