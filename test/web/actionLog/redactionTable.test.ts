import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { actionRules, callRules } from '../../../src/web/actionLog/redact/redaction'
import { api } from '../../../src/web/api/api'

const web = join(__dirname, '../../../src/web')

/** Every module of the console except the entry point and the modules that need webpack. */
const files = readdirSync(web, { recursive: true, encoding: 'utf8' }).filter(
  (file) => /\.tsx?$/.test(file) && !file.endsWith('.d.ts') && !['main.tsx', 'publicPath.ts'].includes(file),
)

type Creator = { type: string; match: unknown }
const isCreator = (value: unknown): value is Creator =>
  typeof value === 'function' && 'match' in value && 'type' in value && typeof value.type === 'string'

const types = new Set<string>()
beforeAll(async () => {
  for (const file of files) {
    for (const value of Object.values((await import(join(web, file))) as Record<string, unknown>)) {
      const actions =
        typeof value === 'object' && value !== null && 'actions' in value ? Object.values(value.actions as object) : []
      for (const { type } of [value, ...actions].filter(isCreator)) types.add(type)
    }
  }
})

test('the scan finds the modules of the console', () => {
  expect(types).toContain('session/started')
  expect(types).toContain('console/linesReceived')
  expect(Object.keys(api.endpoints)).toContain('getOverview')
})

test('decisions §10: every endpoint has a redaction rule for its arguments and result', () => {
  expect(Object.keys(api.endpoints).filter((endpoint) => !Object.hasOwn(callRules, endpoint))).toEqual([])
})

test('decisions §10: every action has a redaction rule', () => {
  expect([...types].filter((type) => !type.startsWith('api/') && !Object.hasOwn(actionRules, type))).toEqual([])
})

test('the redaction table has no rule for a removed endpoint or action', () => {
  expect(Object.keys(callRules).filter((endpoint) => !(endpoint in api.endpoints))).toEqual([])
  const isOurs = (type: string) => !type.startsWith('__rtkq/')
  expect(Object.keys(actionRules).filter((type) => isOurs(type) && !types.has(type))).toEqual([])
})
