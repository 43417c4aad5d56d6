/** @jest-environment node */
import { hideInLines, hiderOf } from '../../../src/web/actionLog/export/hide'
import { formsOf } from '../../../src/web/actionLog/export/secretForms'

const SECRET = 'kX9!"mB{2}\\vW7'
const bytes = [...Buffer.from(SECRET)]
const base64 = (text: string) => Buffer.from(text).toString('base64')
const base32 = (text: string) => {
  const bits = Array.from(Buffer.from(text), (byte) => byte.toString(2).padStart(8, '0')).join('')
  const digits = bits
    .match(/.{1,5}/g)!
    .map((five) => 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'[parseInt(five.padEnd(5, '0'), 2)])
  return digits.join('').padEnd(Math.ceil(digits.length / 8) * 8, '=')
}
const hex = (text: string) => Buffer.from(text).toString('hex')
const byHex = bytes.map((byte) => byte.toString(16).padStart(2, '0'))
const numbers = byHex.map((digits) => `0x${digits}`)
/** The bytes in words of a little-endian machine, with zeros after them, as `od` prints them without offsets. */
const words = (size: 2 | 4, radix: number) => {
  const padded = Buffer.concat([Buffer.from(SECRET), Buffer.alloc(size)])
  const count = Math.ceil(bytes.length / size)
  return Array.from({ length: count }, (_word, at) =>
    padded
      .readUIntLE(at * size, size)
      .toString(radix)
      .padStart(radix === 16 ? size * 2 : 0, '0'),
  ).join(' ')
}
/** The bytes in words of four bytes, as protocols of networks order them. */
const networkWords = Array.from({ length: Math.ceil(bytes.length / 4) }, (_word, at) =>
  Buffer.concat([Buffer.from(SECRET), Buffer.alloc(4)]).readUInt32BE(at * 4),
)

const shown: [how: string, lines: string[]][] = [
  ['as JSON in Base64', [`got ${base64(JSON.stringify({ user: 'ann', value: SECRET }))} from ann`]],
  ['as a parameter in Base64', [`got ${base64(`q=${encodeURIComponent(SECRET)}&page=1`)} from ann`]],
  ['in upper case in Base64', [`got ${base64(SECRET.toUpperCase())} from ann`]],
  ['in Base64 twice', [`got ${base64(base64(SECRET))} from ann`]],
  ['as UTF-16 in Base64', [`got ${Buffer.from(SECRET, 'utf16le').toString('base64')} from ann`]],
  ['in Base64 that is shortened at its start', [`got …${base64(`${SECRET}"} and more`).slice(3)} from ann`]],
  ['in Base32', [`got ${base32(SECRET)} from ann`]],
  ['in Base32 after a name, without padding', [`got ${base32(`ann:${SECRET}`).replaceAll('=', '')} from ann`]],
  ['in Base32 in lower case', [`got ${base32(SECRET).toLowerCase()} from ann`]],
  ['in UTF-16, whose zeros the platform replaces', [`got ${[...SECRET].join('\u2400')}\u2400 from ann`]],
  ['as JSON in hexadecimal digits', [`got ${hex(JSON.stringify({ value: SECRET }))} from ann`]],
  ['in hexadecimal digits that are shortened', [`got ${hex(SECRET).slice(0, -4)}… from ann`]],
  ['as numbers with blanks between them', [`got ${numbers.join(' ')} from ann`]],
  ['as numbers in lines', ['got', ...numbers, 'from ann']],
  ['as numbers in parentheses', [`got (${numbers.join(')(')}) from ann`]],
  ['as digits with commas between them', [`got ${byHex.join(',')} from ann`]],
  ['as digits with dots between them', [`got ${byHex.join('.')} from ann`]],
  ['as octal numbers', [`got ${bytes.map((byte) => byte.toString(8)).join(' ')} from ann`]],
  ['as hexadecimal words of two bytes', [`got ${words(2, 16)} from ann`]],
  ['as hexadecimal words of four bytes', [`got ${words(4, 16)} from ann`]],
  ['as decimal words of two bytes', [`got ${words(2, 10)} from ann`]],
  ['as decimal words of four bytes', [`got ${words(4, 10)} from ann`]],
  ['as decimal words whose first byte is the highest', [`got ${networkWords.join(', ')} from ann`]],
  ['as numbers that are shortened', [`got [ ${bytes.slice(0, -2).join(', ')}, ... 2 more items ] from ann`]],
  ['as names of characters', [`got ${byHex.map((digits) => `U+00${digits}`).join(' ')} from ann`]],
]

test.each(shown)('hides a secret that output shows %s, and nothing else', (_how, lines) => {
  const left = hideInLines(['before', ...lines, 'after'], [], [SECRET])
  expect(left).toHaveLength(lines.length + 2)
  expect(left.join(' ').replace(/(?:•••|[^\p{L}\p{N}•])+/gu, ' ')).toMatch(
    /^before got (?:(?:[1U]|more items) )?from ann after$/,
  )
})

test.each(shown.filter(([, lines]) => lines.length === 1))(
  'hides a secret that a response holds %s',
  (_how, [line]) => {
    expect(hiderOf([SECRET])(line!)).toMatch(/^got .*•••.* from ann$/)
    expect(hiderOf([SECRET])(line!).length).toBeLessThan(50)
  },
)

test('what encodes other texts stays', () => {
  const lines = [
    `got ${base64('the quick brown fox jumps')} and ${hex('over the lazy dog')} from 10.0.0.7:25565 at 12:00:01`,
    'at net.minecraft.server.dedicated/DedicatedServer.runServer(DedicatedServer.java:1056) 3f2a9c0e-77b1-4d6a-9c55-0a1b2c3d4e5f',
    `[${[...Buffer.from('the quick brown fox')].join(', ')}]`,
  ]
  expect(hideInLines(lines, [], [SECRET])).toEqual(lines)
})

test.each([
  ['as it is', `it is -_-+'"\`\\--_, or not`, 'it is •••, or not'],
  ['in JSON', JSON.stringify({ value: `-_-+'"\`\\--_` }), '•••'],
  ['in a URL', `/search?q=${encodeURIComponent(`-_-+'"\`\\--_`)}`, '•••'],
])('hides a secret of dashes and quotes only %s', (_how, text, left) => {
  const secret = `-_-+'"\`\\--_`
  expect(hiderOf([secret])(text)).toBe(left)
  expect(hideInLines(['before', text, 'after'], [], [secret])).toEqual(['before', left, 'after'])
})

test('a typed line of dashes does not hide the lines of tables', () => {
  expect(hideInLines(['+--------+'], [], ['--------'])).toEqual(['+--------+'])
})

test.each([
  ['without the colour codes of players', 'Pq&c7x&lwW9q&#aabbccNm', 'Pq7xwW9qNm'],
  ['without strokes', 'hasłoŁódź9', 'hasloLodz9'],
  ['without ligatures', 'smørrebrødæ7', 'smorrebrodae7'],
  ['as the name of a file, if it has blanks', '[ab]12:34:56 xyzw', 'ab-12-34-56-xyzw'],
])('hides a secret %s', (_how, secret, text) => {
  expect(hideInLines([`x ${text} y`], [], formsOf(secret))).toEqual(['x ••• y'])
})

test.each([
  ['773177', '773,177'],
  ['48 27 19 93', '48.271.993'],
])('the code %s is hidden as a program formats it as a number: %s', (code, printed) => {
  expect(hideInLines([`it is ${printed} or 773`], [], formsOf(code))).toEqual(['it is ••• or 773'])
})

test.each([
  ['a symbol as Python escapes it', 'f2🦊🐳i🍕4c🚀', 'f2\\U0001f98a\\U0001f433i\\U0001f3554c\\U0001f680'],
  ['a name as a shell quotes it', 'Zän8ñour€9b', "'Z'$'\\303\\244''n8'$'\\303\\261''our'$'\\342\\202\\254''9b'"],
])('a secret with %s is hidden', (_how, secret, printed) => {
  expect(hideInLines([`got ${printed} now`], [], [secret])[0]).toMatch(/^got '?•••'? now$/)
})
