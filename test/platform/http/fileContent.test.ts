import { chmod, readdir, readFile, stat, symlink, truncate, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expectHeldUnder } from '../../support/platform/heldMemory'
import { useFileCalls } from '../../support/platform/fileCalls'

const { platform, ann, share, call, entriesOf, makeDirectory, read } = useFileCalls()

describe('the content of a file', () => {
  test.each([
    ['utf-8', Buffer.from('motd=Grüße 🚀\r\nport=1\n'), 'motd=Grüße 🚀\r\nport=1\n'],
    ['utf-8-bom', Buffer.from('\ufeffa=1\n'), 'a=1\n'],
    ['utf-16le', Buffer.from('\ufeffa=ä\n', 'utf16le'), 'a=ä\n'],
    ['utf-16be', Buffer.from('\ufeffa=ä\n', 'utf16le').swap16(), 'a=ä\n'],
    ['windows-1252', Buffer.from([0x61, 0x3d, 0xe4, 0x80, 0x0d, 0x0a]), 'a=ä€\r\n'],
  ])('decisions §3: %s is read as text and saved in its encoding', async (encoding, bytes, text) => {
    const path = `${await makeDirectory(`text-${encoding}`, { file: bytes })}/file`
    const opened = await read(path)
    expect(opened.body.data).toMatchObject({ content: text, encoding })
    const { modifyTime } = opened.body.data
    const saved = await call('PATCH', 'file/content', { path, content: opened.body.data.content, encoding, modifyTime })
    expect(saved).toMatchObject({ status: 200 })
    expect(await readFile(join(share(), `text-${encoding}`, 'file'))).toEqual(bytes)
  })

  test('security 23: saving a file that was changed meanwhile gets 409, and the disk keeps the newer text', async () => {
    const path = `${await makeDirectory('stale', { file: 'old' })}/file`
    const { modifyTime } = (await read(path)).body.data
    await writeFile(join(share(), 'stale/file'), 'newer')
    await utimes(join(share(), 'stale/file'), new Date(), new Date(Number(modifyTime) + 5000))
    expect(await call('PATCH', 'file/content', { path, content: 'mine', modifyTime })).toMatchObject({
      status: 409,
      body: { code: 'CONFLICT', message: '/nfsshare/stale/file was changed since it was opened.' },
    })
    expect(await readFile(join(share(), 'stale/file'), 'utf8')).toBe('newer')
    // A request to overwrite omits the time.
    expect(await call('PATCH', 'file/content', { path, content: 'mine' })).toMatchObject({ status: 200 })
    expect(await readFile(join(share(), 'stale/file'), 'utf8')).toBe('mine')
    expect(await readdir(join(share(), 'stale'))).toEqual(['file'])
  })

  test('a save returns the modification time that the next save has to send', async () => {
    const path = `${await makeDirectory('again', { file: '1' })}/file`
    let { modifyTime } = (await read(path)).body.data
    for (const content of ['2', '3', '4'])
      ({ modifyTime } = (await call('PATCH', 'file/content', { path, content, modifyTime })).body.data)
    expect(await readFile(join(share(), 'again/file'), 'utf8')).toBe('4')
  })

  test('a save keeps the mode, and a save through a link changes its target', async () => {
    const path = await makeDirectory('kept', { 'run.sh': '#!/bin/sh\n' })
    await chmod(join(share(), 'kept/run.sh'), 0o750)
    await symlink('run.sh', join(share(), 'kept/link'))
    await call('PATCH', 'file/content', { path: `${path}/link`, content: 'changed' })
    expect(await readFile(join(share(), 'kept/run.sh'), 'utf8')).toBe('changed')
    expect((await stat(join(share(), 'kept/run.sh'))).mode & 0o777).toBe(0o750)
    expect((await entriesOf(path)).map(({ name }) => name).sort()).toEqual(['link', 'run.sh'])
  })

  test('a save clears the setuid and setgid bits, as every write does', async () => {
    const path = await makeDirectory('special', { tool: 'one' })
    await chmod(join(share(), 'special/tool'), 0o6755)
    expect((await call('PATCH', 'file/content', { path: `${path}/tool`, content: 'two' })).status).toBe(200)
    expect((await stat(join(share(), 'special/tool'))).mode & 0o7777).toBe(0o755)
  })

  test('security 117: a text that is not sent as UTF-8 gets 400, and the file stays unchanged', async () => {
    const path = await makeDirectory('umlauts', { 'motd.txt': 'before' })
    const answer = await platform().app.inject({
      method: 'PATCH',
      url: '/api/sftp/file/content',
      headers: { authorization: `Bearer ${ann().token}`, 'content-type': 'application/json' },
      payload: Buffer.from(JSON.stringify({ path: `${path}/motd.txt`, content: 'Grüße' }), 'latin1'),
    })
    expect([answer.statusCode, answer.json()]).toMatchObject([400, { code: 'INVALID_INPUT' }])
    expect(await readFile(join(share(), 'umlauts/motd.txt'), 'utf8')).toBe('before')
  })

  test('security 129: half of a surrogate pair gets 400, and the file stays unchanged; an escaped pair is saved', async () => {
    const path = await makeDirectory('surrogates', { 'motd.txt': 'before' })
    const save = (content: string) =>
      call('PATCH', 'file/content', `{"path": "${path}/motd.txt", "content": "${content}"}`)
    for (const content of [
      '\\ud800',
      '\\uDFFF',
      'a\\udc00\\ud800',
      '\\ud83d\\n\\ude00',
      '\\ud83d\\ud83d\\ude00',
      '\\\\\\ud800',
    ])
      expect([content, await save(content)]).toMatchObject([content, { status: 400, body: { code: 'INVALID_INPUT' } }])
    expect(await readFile(join(share(), 'surrogates/motd.txt'), 'utf8')).toBe('before')
    expect(await save('\\ud83d\\uDE00 \\\\ud800 \\ud7ff')).toMatchObject({ status: 200 })
    expect(await readFile(join(share(), 'surrogates/motd.txt'), 'utf8')).toBe('\u{1f600} \\ud800 \ud7ff')
  })

  test('a character that the encoding cannot represent gets 400, and the file stays unchanged', async () => {
    const path = `${await makeDirectory('one-byte', { file: Buffer.from([0xe4]) })}/file`
    expect(await call('PATCH', 'file/content', { path, content: '漢', encoding: 'windows-1252' })).toMatchObject({
      status: 400,
      body: { field: 'content' },
    })
    expect(await readFile(join(share(), 'one-byte/file'))).toEqual(Buffer.from([0xe4]))
  })

  test('security 24: a file of a gigabyte gets 413 and a binary file 415, without being read into memory', async () => {
    const path = await makeDirectory('heavy', { binary: Buffer.from([1, 0, 2]) })
    await writeFile(join(share(), 'heavy/huge'), '')
    await truncate(join(share(), 'heavy/huge'), 2 ** 30)
    await expectHeldUnder(50 * 2 ** 20, async () => {
      expect(await read(`${path}/huge`)).toMatchObject({ status: 413, body: { code: 'TOO_LARGE' } })
      expect(await read(`${path}/binary`)).toMatchObject({ status: 415, body: { code: 'UNSUPPORTED_MEDIA_TYPE' } })
      expect(await call('PATCH', 'file/content', { path: `${path}/huge`, content: '' })).toMatchObject({ status: 413 })
    })
  })

  test('decisions §1: a text of 5 MiB is saved, and one byte more gets 413', async () => {
    const path = `${await makeDirectory('full', { file: '' })}/file`
    expect(await call('PATCH', 'file/content', { path, content: 'x'.repeat(5 * 2 ** 20) })).toMatchObject({
      status: 200,
    })
    expect(await call('PATCH', 'file/content', { path, content: 'x'.repeat(5 * 2 ** 20 + 1) })).toMatchObject({
      status: 413,
    })
    expect((await stat(join(share(), 'full/file'))).size).toBe(5 * 2 ** 20)
  })
})
