/** @jest-environment node */
import { IDBFactory } from 'fake-indexeddb'
import type { Offer } from '../../../src/web/drafts/draft'
import { openDraftDatabase } from '../../../src/web/drafts/draftDatabase'
import { LIFETIME_MS, MAX_TOTAL_LENGTH } from '../../../src/web/drafts/draftCache'
import { createDraftKeeper, SETTLE_TIMEOUT_MS } from '../../../src/web/drafts/draftKeeper'
import { MAX_LENGTH, WRITE_INTERVAL_MS } from '../../../src/web/drafts/draftSlot'
import { fakeDrafts } from '../../support/web/services'

const file = { kind: 'file', name: '/nfsshare/lobby.yml' } as const

beforeEach(() => {
  globalThis.indexedDB = new IDBFactory()
})

/** A page of this browser with `user` signed in. */
async function page(user: string, { now = () => Date.now(), database = openDraftDatabase() } = {}) {
  let offers: Offer[] = []
  const keeper = createDraftKeeper({ database, now, onOffers: (list) => (offers = list) })
  await keeper.begin(user)
  /** Opens an editor with this text as unsaved input. */
  const edit = (text: string, subject: { kind: 'file' | 'configuration'; name: string } = file) => {
    const editor = { text: text as string | undefined, reads: 0 }
    const slot = keeper.open(subject, () => {
      editor.reads++
      return editor.text === undefined ? undefined : { text: editor.text }
    })!
    slot.changed()
    return Object.assign(editor, slot)
  }
  const contents = () => offers.map(({ id }) => keeper.contentOf(id)?.['text'])
  return { keeper, edit, database, offers: () => offers, contents }
}
/** Unloads the page; resolves once all drafts are in the database. */
async function leave({ keeper, database }: Awaited<ReturnType<typeof page>>) {
  keeper.flush()
  await database.read()
}

test('a draft is offered to the same user at the next visit and to no other user', async () => {
  const first = await page('ann')
  first.edit('typed')
  await leave(first)

  const other = await page('bob')
  expect(other.offers()).toEqual([])
  const next = await page('ann')
  expect(next.offers()).toMatchObject([{ ...file, isInterrupted: false }])
  expect(next.contents()).toEqual(['typed'])
})

test('a crash of the page loses only input since the last write', async () => {
  jest.useFakeTimers({ doNotFake: ['setImmediate', 'queueMicrotask', 'nextTick'] })
  try {
    const first = await page('ann', { database: fakeDrafts().database })
    const editor = first.edit('typed')
    editor.text = 'typed on'
    editor.changed()
    expect(editor.reads).toBe(0)
    jest.advanceTimersByTime(WRITE_INTERVAL_MS)
    expect(editor.reads).toBe(1)
    // The page is not closed: it crashed.
    const next = await page('ann', { database: first.database })
    expect(next.contents()).toEqual(['typed on'])
  } finally {
    jest.useRealTimers()
  }
})

test('saved and discarded drafts are not offered', async () => {
  const first = await page('ann')
  const saved = first.edit('saved')
  const undone = first.edit('undone', { kind: 'configuration', name: 'lobby' })
  first.keeper.flush()
  saved.drop()
  undone.text = undefined
  undone.changed()
  await leave(first)
  expect((await page('ann')).offers()).toEqual([])
})

test('a draft is deleted after 7 days, from the database too', async () => {
  const first = await page('ann')
  first.edit('typed')
  await leave(first)
  const almost = await page('ann', { now: () => Date.now() + LIFETIME_MS - 60_000 })
  expect(almost.contents()).toEqual(['typed'])
  const late = await page('ann', { now: () => Date.now() + LIFETIME_MS + 60_000 })
  expect(late.offers()).toEqual([])
  expect(await late.database.read()).toEqual([])
})

test('two tabs that edit the same file keep separate drafts', async () => {
  const first = await page('ann')
  first.edit('first')
  await leave(first)
  const second = await page('ann')
  expect(second.contents()).toEqual(['first'])
  second.edit('second')
  await leave(second)

  const next = await page('ann')
  expect(next.contents().sort()).toEqual(['first', 'second'])
})

test('restoring a draft offers the previous content of the editor as a draft', async () => {
  const first = await page('ann')
  first.edit('before')
  await leave(first)
  const next = await page('ann')
  const editor = next.edit('typed meanwhile')
  expect(editor.restore(next.offers()[0]!.id)).toEqual({ text: 'before' })
  expect(next.contents()).toEqual(['typed meanwhile'])
  editor.text = 'before, and more'
  editor.changed()
  await leave(next)
  expect((await page('ann')).contents().sort()).toEqual(['before, and more', 'typed meanwhile'])
})

test('refresh removes drafts saved by another tab and adds its new drafts', async () => {
  const first = await page('ann')
  const editor = first.edit('typed')
  await leave(first)
  const second = await page('ann')
  expect(second.contents()).toEqual(['typed'])
  editor.drop()
  first.edit('of another file', { kind: 'file', name: '/nfsshare/other.yml' })
  await leave(first)
  await second.keeper.refresh()
  expect(second.contents()).toEqual(['of another file'])
})

test('a draft discarded during a database read stays discarded', async () => {
  const first = await page('ann')
  first.edit('typed')
  await leave(first)
  const next = await page('ann')
  const refreshed = next.keeper.refresh()
  next.keeper.discard(next.offers()[0]!.id)
  await refreshed
  expect(next.offers()).toEqual([])
})

test('the end of the session turns the content of open editors into drafts', async () => {
  const app = await page('ann')
  const editor = app.edit('typed')
  app.keeper.end('expired')
  editor.text = undefined
  editor.changed()
  editor.close()
  expect(app.offers()).toEqual([])
  await app.keeper.begin('ann')
  expect(app.offers()).toMatchObject([{ isInterrupted: true }])
  expect(app.contents()).toEqual(['typed'])
})

test('a text over the edit limit of the platform is not stored', async () => {
  const app = await page('ann')
  const editor = app.edit('small')
  app.keeper.flush()
  editor.text = 'x'.repeat(MAX_LENGTH + 1)
  editor.changed()
  await leave(app)
  expect((await page('ann')).offers()).toEqual([])
})

test('after a draft was restored in the place of such a text, all drafts can be stored', async () => {
  const first = await page('ann')
  first.edit('before')
  await leave(first)
  const app = await page('ann')
  const editor = app.edit('x'.repeat(MAX_LENGTH + 1))
  expect(await app.keeper.settle()).toBe(false)
  editor.text = String((editor.restore(app.offers()[0]!.id) as { text: string }).text)
  editor.changed()
  expect(await app.keeper.settle()).toBe(true)
})

test('the drafts of a user have a total size limit; the oldest are deleted first', async () => {
  const size = MAX_LENGTH - 10
  const count = Math.floor(MAX_TOTAL_LENGTH / size)
  let time = Date.now()
  const app = await page('ann', { database: fakeDrafts().database, now: () => time++ })
  for (let at = 0; at <= count; at++) {
    app.edit(`${at}${'x'.repeat(size)}`, { kind: 'file', name: `/nfsshare/${at}` })
    app.keeper.flush()
  }
  const kept = await app.database.read()
  expect(kept?.map(({ name }) => name)).toEqual(Array.from({ length: count }, (_, at) => `/nfsshare/${at + 1}`))
})

test('drafts live in memory without IndexedDB, with one console warning', async () => {
  Reflect.deleteProperty(globalThis, 'indexedDB')
  const warn = jest.spyOn(console, 'warn').mockImplementation(() => {})
  const app = await page('ann')
  const editor = app.edit('typed')
  await leave(app)
  editor.changed()
  await leave(app)
  expect(warn.mock.calls.map(([text]) => String(text))).toEqual([
    expect.stringContaining('[drafts] this browser cannot store drafts'),
  ])
  app.keeper.end('gone')
  await app.keeper.begin('ann')
  expect(app.contents()).toEqual(['typed'])
  warn.mockRestore()
})

test('a draft whose last change the database refuses is not reported as stored, though an earlier write of it succeeds', async () => {
  const { database } = fakeDrafts()
  const written: ((isWritten: boolean) => void)[] = []
  const write = () => new Promise<boolean>((resolve) => written.push(resolve))
  const app = await page('ann', { database: { ...database, write } })
  const editor = app.edit('typed')
  app.keeper.flush()
  editor.text = 'typed on'
  editor.changed()
  app.keeper.flush()
  written[0]?.(true)
  written[1]?.(false)
  expect(await app.keeper.settle()).toBe(false)
})

test('a hanging database times out, and settle reports unsaved drafts', async () => {
  jest.useFakeTimers()
  try {
    const hanging = () => new Promise<never>(() => {})
    const keeper = createDraftKeeper({
      database: { read: hanging, write: hanging, remove: hanging },
      now: () => Date.now(),
      onOffers: () => {},
    })
    void keeper.begin('ann')
    const idle = keeper.settle()
    await jest.advanceTimersByTimeAsync(SETTLE_TIMEOUT_MS)
    await expect(idle).resolves.toBe(true)

    keeper.open(file, () => ({ text: 'typed' }))?.changed()
    const typed = keeper.settle()
    await jest.advanceTimersByTimeAsync(SETTLE_TIMEOUT_MS)
    await expect(typed).resolves.toBe(false)
  } finally {
    jest.useRealTimers()
  }
})
