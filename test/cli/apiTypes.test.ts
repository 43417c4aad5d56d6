import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { generateApiTypes } from '../support/platform/apiTypes'
import { useEmptyPlatform } from '../support/platform/startPlatform'
import { useTemporaryDirectory } from '../support/platform/temporaryDirectory'

const path = join(__dirname, '../../src/cli/api/schema.d.ts')
const UPDATE = 'UPDATE_API_TYPES=1 npm test -- --selectProjects platform --runTestsByPath test/cli/apiTypes.test.ts'

/** What the command line uses: the types of other calls may change without it. */
const CALLS = [
  'GET /api/account',
  'GET /api/deployments',
  'POST /api/deployments',
  'GET /api/deployments/{name}',
  'PATCH /api/deployments/{name}',
  'GET /api/deployments/{name}/instances',
  'POST /api/deployments/{name}/toggle',
  'POST /api/deployments/{name}/restart',
  'GET /api/sftp/files',
  'POST /api/sftp/directory',
  'POST /api/sftp/upload',
  'POST /api/sftp/download-ticket',
  'GET /api/sftp/download',
  'POST /api/sftp/download-multiple',
  'POST /api/database/{type}',
]

const platform = useEmptyPlatform()
const directory = useTemporaryDirectory()

test('the API types that the command line is compiled with are up to date', async () => {
  const generated = await generateApiTypes(platform(), directory(), CALLS)
  if (process.env.UPDATE_API_TYPES) writeFileSync(path, generated)
  if (readFileSync(path, 'utf8') !== generated)
    throw new Error(`src/cli/api/schema.d.ts is not what /api/openapi.json describes. Generate it again:\n${UPDATE}`)
})
