import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import pino from 'pino'
import { createReplicas, type Replicas, type SyncEvent } from '../../../src/platform/share/replicas'
import { useTemporaryDirectory } from '../../support/platform/temporaryDirectory'
import { until } from '../../support/platform/until'

const directory = useTemporaryDirectory()
let replicas: Replicas
let heard: SyncEvent[]

beforeEach(() => {
  heard = []
  replicas = createReplicas(directory(), pino({ level: 'silent' }))
  replicas.onSync((event) => heard.push(event))
})
afterEach(() => replicas.close())

async function follow(name: string): Promise<string> {
  const path = join(directory(), name)
  await mkdir(path, { recursive: true })
  replicas.follow([path])
  await until(() => replicas.isSynced && heard.at(-1) === 'sync_completed')
  heard.length = 0
  return path
}

test('decisions §5: a change from outside starts a sync, and its end is told', async () => {
  const lobby = await follow('lobby')
  await writeFile(join(lobby, 'motd.txt'), 'hello')
  await until(() => heard.length >= 2)
  expect(heard).toEqual(['sync_started', 'sync_completed'])
  const copy = join(directory(), 'copy')
  await replicas.copyTo(lobby, copy)
  expect(await readFile(join(copy, 'motd.txt'), 'utf8')).toBe('hello')
})

test('a hundred changes at once are one sync', async () => {
  const lobby = await follow('busy')
  await Promise.all(Array.from({ length: 100 }, (_file, at) => writeFile(join(lobby, `file-${at}`), String(at))))
  await until(() => heard.includes('sync_completed'))
  expect(heard).toEqual(['sync_started', 'sync_completed'])
})

test('a directory that goes away is not synced until it is back or followed no more', async () => {
  await mkdir(join(directory(), 'vanishing'))
  await writeFile(join(directory(), 'vanishing/a.txt'), '')
  const lobby = await follow('vanishing')
  await rm(lobby, { recursive: true })
  await until(() => heard.includes('sync_started'))
  expect(replicas.isSynced).toBe(false)
  replicas.follow([])
  expect(replicas.isSynced).toBe(true)
  expect(heard).toEqual(['sync_started', 'sync_completed'])
})
