import { chmod, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { openSecrets } from '../../../src/platform/state/secrets'
import { freshState } from '../../support/platform/freshState'
import { useTemporaryDirectory } from '../../support/platform/temporaryDirectory'

const directory = useTemporaryDirectory()

describe('the key file', () => {
  test('is created once, and only its owner can read it', async () => {
    const state = await freshState()
    await openSecrets(directory(), state.db)
    const file = join(directory(), 'secret.key')
    const key = await readFile(file, 'utf8')
    await openSecrets(directory(), state.db)
    expect(await readFile(file, 'utf8')).toBe(key)
    expect((await stat(file)).mode & 0o777).toBe(0o600)
    await state.close()
  })

  test('decrypts what it encrypted for the same purpose and user, unless it was altered', async () => {
    const state = await freshState()
    const sealed = (await openSecrets(directory(), state.db)).seal('a secret', 'test', 'ann')
    expect(sealed).not.toContain(Buffer.from('a secret').toString('base64').slice(0, 8))
    const again = await openSecrets(directory(), state.db)
    expect(again.unseal(sealed, 'test', 'ann')).toBe('a secret')
    expect(() => again.unseal(sealed, 'test', 'bob')).toThrow()
    expect(() => again.unseal(sealed, 'another purpose', 'ann')).toThrow()
    const altered = `${sealed.slice(0, -6)}AAAA${sealed.slice(-2)}`
    expect(() => again.unseal(altered, 'test', 'ann')).toThrow()
    await state.close()
  })

  test('stops the start with a clear line when it is missing, damaged or of another state', async () => {
    const state = await freshState()
    const file = join(directory(), 'secret.key')
    await rm(file, { force: true })
    await openSecrets(directory(), state.db)
    const key = await readFile(file, 'utf8')

    await writeFile(file, 'ff'.repeat(32))
    await expect(openSecrets(directory(), state.db)).rejects.toMatchObject({
      lines: [expect.stringContaining('is not the one that this state was written with')],
    })
    await writeFile(file, key.slice(0, 10))
    await expect(openSecrets(directory(), state.db)).rejects.toMatchObject({
      lines: [expect.stringContaining('is damaged')],
    })
    await rm(file)
    await expect(openSecrets(directory(), state.db)).rejects.toMatchObject({
      lines: [expect.stringContaining('is missing')],
    })

    await writeFile(file, key)
    await chmod(file, 0o600)
    await openSecrets(directory(), state.db)
    await state.close()
  })
})
