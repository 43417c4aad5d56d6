import { mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { readJsonFiles, replaceJsonFile } from '../../../src/platform/runtime/jsonFiles'
import { useTemporaryDirectory } from '../../support/platform/temporaryDirectory'

const directory = useTemporaryDirectory()
const records = () => join(directory(), 'records')

beforeAll(() => mkdirSync(records()))

test('a file is replaced atomically with owner-only permissions, and leftovers of a crash are not read', () => {
  replaceJsonFile(join(records(), 'one.json'), { value: 1 })
  replaceJsonFile(join(records(), 'one.json'), { value: 2 })
  expect(readdirSync(records())).toEqual(['one.json'])
  expect(statSync(join(records(), 'one.json')).mode & 0o777).toBe(0o600)
  writeFileSync(join(records(), 'one.json.new'), '{"value":')
  writeFileSync(join(records(), 'one.log'), 'a line')
  expect(readJsonFiles(records())).toEqual([{ value: 2 }])
})

test('an invalid JSON file is reported and skipped, and a missing directory counts as empty', () => {
  const unreadable: string[] = []
  writeFileSync(join(records(), 'broken.json'), '')
  expect(readJsonFiles(records(), (name) => unreadable.push(name))).toEqual([{ value: 2 }])
  expect(unreadable).toEqual(['broken.json'])
  expect(readJsonFiles(join(directory(), 'none'))).toEqual([])
  expect(() => readJsonFiles(join(records(), 'one.json'))).toThrow('ENOTDIR')
})
