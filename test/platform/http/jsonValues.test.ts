import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { hasMoreValues } from '../../../src/platform/http/jsonValues'
import { usePlatform } from '../../support/platform/startPlatform'

/** Counts the values that JSON.parse creates; names of properties do not count. */
function countOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 1
  return 1 + Object.values(value).reduce((sum: number, below) => sum + countOf(below), 0)
}

test.each([
  '[1]',
  '["a,b[{"]',
  '[]',
  '{}',
  '[1,2]',
  '{"a":1,"b":[{},{}]}',
  '["\\\\"]',
  '["\\\\",1]',
  '["\\",[{",1]',
  '["\\\\\\",",1]',
  '{"a\\"":"\\\\\\\\"}',
  '[[[]],"]"]',
])('the values of %s are counted, empty lists and objects at most twice', (text) => {
  const values = countOf(JSON.parse(text))
  const empty = text.replaceAll(/"(?:[^"\\]|\\.)*"/g, '""').match(/\[\]|\{\}/g)?.length ?? 0
  expect(hasMoreValues(text, values - 1)).toBe(true)
  expect(hasMoreValues(text, values + empty)).toBe(false)
})

test.each(['"', '"\\', '"\\"', '['])('counting the values of invalid JSON (%s) terminates', (text) => {
  expect(hasMoreValues(text, 10)).toBe(false)
})

describe('a call that accepts large bodies', () => {
  const { platform, account: ann } = usePlatform('ann')
  beforeAll(async () => {
    writeFileSync(join(platform().dataDir, 'nfsshare/a.json'), '')
  })
  const save = (content: unknown) =>
    platform().call('PATCH', '/api/sftp/file/content', {
      token: ann().token,
      body: { path: '/nfsshare/a.json', content },
    })

  test('refuses a body with millions of values before parsing it', async () => {
    const parse = jest.spyOn(JSON, 'parse')
    try {
      expect(await save(Array.from({ length: 1_000_000 }, () => ({})))).toMatchObject({
        status: 413,
        body: { code: 'TOO_LARGE', message: 'The request’s body contains too many values.' },
      })
      expect(parse.mock.calls.filter(([text]) => text.length > 1_000_000)).toEqual([])
    } finally {
      parse.mockRestore()
    }
  })

  test('accepts one long string that contains such values', async () => {
    expect((await save(JSON.stringify(Array.from({ length: 1_000_000 }, () => ({}))))).status).toBe(200)
  })
})
