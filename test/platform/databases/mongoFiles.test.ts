import { existsSync, lstatSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import pino from 'pino'
import { createMongo } from '../../../src/platform/databases/mongo/mongo'
import type { DatabaseServer } from '../../../src/platform/databases/databaseServer'
import type { Secrets } from '../../../src/platform/state/secrets'
import { useTemporaryDirectory } from '../../support/platform/temporaryDirectory'

const directory = useTemporaryDirectory()
const programs = () => join(directory(), 'programs')
const mongoDirectory = (program: string) => join(directory(), 'mongo', program)
let mongo: DatabaseServer

beforeEach(() => {
  rmSync(join(directory(), 'mongo'), { recursive: true, force: true })
  mkdirSync(programs(), { recursive: true })
  mkdirSync(join(directory(), 'mongo'))
  for (const program of ['mongod', 'ferretdb'])
    writeFileSync(join(programs(), program), '#!/bin/sh\nexec sleep 60\n', { mode: 0o755 })
  mongo = createMongo({
    url: undefined,
    dataDir: directory(),
    path: programs(),
    secrets: { seal: (text: string) => `sealed ${text}` } as unknown as Secrets,
    log: pino({ level: 'silent' }),
  })
})
afterEach(() => mongo.close())

/** A link to itself is an entry that exists and cannot be read, also by root. */
const makeUnreadable = (path: string) => symlinkSync(path, path)

test.each([
  ['password', 'is not replaced', 'administrator'],
  ['port', 'stays', 'port'],
])('security 163: the %s of the MongoDB server %s while its file cannot be read', async (_what, _then, name) => {
  mkdirSync(mongoDirectory('mongod'))
  const file = join(mongoDirectory('mongod'), name)
  makeUnreadable(file)
  await expect(mongo.open([])).rejects.toMatchObject({ code: 'UNAVAILABLE' })
  expect(lstatSync(file).isSymbolicLink()).toBe(true)
})

test('security 163: no other MongoDB server is started while the directory of the present one cannot be read', async () => {
  makeUnreadable(mongoDirectory('ferretdb'))
  await expect(mongo.open([])).rejects.toMatchObject({ code: 'UNAVAILABLE' })
  expect(existsSync(mongoDirectory('mongod'))).toBe(false)
})
