import { execFile } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { TestPlatform } from './startPlatform'

const root = join(__dirname, '../../..')

/** The path of a program of a package. */
export const packageProgram = (name: string) => join(root, 'node_modules/.bin', name)

/** Runs a JavaScript program. @returns its output. @throws Error with its output if it fails */
export async function runScript(cwd: string, path: string, ...args: string[]): Promise<string> {
  const { stdout } = await promisify(execFile)(process.execPath, [path, ...args], { cwd }).catch(
    ({ stdout, stderr }: { stdout: string; stderr: string }) => {
      throw new Error(`${path} failed:\n${stdout}${stderr}`)
    },
  )
  return stdout
}

interface Description {
  paths: Record<string, Record<string, unknown>>
  components: Record<string, Record<string, unknown>>
}

/**
 * The part of a description that these calls need, without its texts and examples. @param calls such as `GET /api/keys`
 */
function partOf({ paths, components, ...rest }: Description, calls: string[]): Description {
  const chosen: Description['paths'] = {}
  for (const call of calls) {
    const [method = '', path = ''] = call.split(' ')
    const operation = paths[path]?.[method.toLowerCase()]
    if (operation === undefined) throw new Error(`There is no call ${call}`)
    chosen[path] = { ...chosen[path], [method.toLowerCase()]: operation }
  }
  const used: Description['components'] = {}
  const addParts = (value: unknown) => {
    for (const [, kind = '', name = ''] of JSON.stringify(value).matchAll(/"#\/components\/(\w+)\/([^"]+)"/g)) {
      if (used[kind] && name in used[kind]) continue
      const found = components[kind]?.[name]
      used[kind] = { ...used[kind], [name]: found }
      addParts(found)
    }
  }
  addParts(chosen)
  const part = { ...rest, paths: chosen, components: used }
  const isText = (key: string, value: unknown) =>
    key === 'example' ||
    key === 'examples' ||
    ((key === 'description' || key === 'summary') && typeof value === 'string')
  return JSON.parse(
    JSON.stringify(part, (key, value: unknown) => (isText(key, value) ? undefined : value)),
  ) as Description
}

/**
 * Generates the types of calls from the platform's description of them, as `schema.d.ts` in a directory.
 * @param calls default: all
 * @returns the generated text
 */
export async function generateApiTypes(
  platform: Pick<TestPlatform, 'app'>,
  directory: string,
  calls?: string[],
): Promise<string> {
  const { body } = await platform.app.inject({ url: '/api/openapi.json' })
  const part = calls ? JSON.stringify(partOf(JSON.parse(body) as Description, calls)) : body
  writeFileSync(join(directory, 'openapi.json'), part)
  await runScript(directory, packageProgram('openapi-typescript'), 'openapi.json', '--output', 'schema.d.ts')
  return readFileSync(join(directory, 'schema.d.ts'), 'utf8')
}
