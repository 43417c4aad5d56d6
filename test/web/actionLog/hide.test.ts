/** @jest-environment node */
import { hideInLines, hiderOf } from '../../../src/web/actionLog/export/hide'
import { formsOf } from '../../../src/web/actionLog/export/secretForms'

const SECRET = 'Cänary 7731&"x"/+'
const hidden = (text: string, secret: string) => hiderOf([secret])(text)

test.each([
  ['unchanged', `it is ${SECRET}.`],
  ['in upper case', SECRET.toUpperCase()],
  ['with decomposed accents', SECRET.normalize('NFD')],
  ['in full-width letters', 'Ｃänary 7731&"x"/+'],
  ['with invisible characters', 'Cän\u200bary\u00ad 7731&"x"/+'],
  ['without its space', 'Cänary7731&"x"/+'],
  ['in a URL', `/search?q=${encodeURIComponent(SECRET)}&page=1`],
  ['partly encoded in a URL', encodeURI(SECRET)],
  ['in a URL with lower-case escapes', encodeURIComponent(SECRET).toLowerCase()],
  ['in form data', new URLSearchParams({ q: SECRET }).toString()],
  ['in a URL within a URL', encodeURIComponent(encodeURIComponent(SECRET))],
  ['in JSON', JSON.stringify({ q: SECRET })],
  ['in JSON within JSON', JSON.stringify(JSON.stringify({ q: SECRET }))],
  ['in ASCII-only JSON', JSON.stringify({ q: SECRET }).replace('ä', '\\u00e4')],
  ['in HTML', SECRET.replace('&', '&amp;').replaceAll('"', '&#34;')],
  ['in bold letters of a manual page', SECRET.replace(/./gu, '$&\b$&')],
  ['in hexadecimal digits', Buffer.from(SECRET).toString('hex').toUpperCase()],
  ['in Base64', Buffer.from(SECRET).toString('base64')],
])('hides a secret %s', (_where, text) => {
  const left = hidden(text, SECRET)
  expect(left).toContain('•••')
  expect(left.replace(/•••.*?[^\w%"&;]*$/s, '')).not.toMatch(/7731|x/)
})

test.each(['', 'a', 'ab', 'abc', 'ann:'])('hides a secret in Base64 after %p and before other text', (before) => {
  const text = btoa(`${before}hunter2secret and more`)
  const left = hidden(text, 'hunter2secret')
  expect(left).toContain('•••')
  // The remaining Base64 decodes to at most one letter of the secret at each end.
  expect(Buffer.from(left.replace(/^.*•••/, 'AA'), 'base64').toString('latin1')).not.toMatch(/secret/)
  expect(Buffer.from(left.replace(/•••.*$/, ''), 'base64').toString('latin1')).not.toMatch(/hunt/)
})

test.each(['', 'a', 'ab', 'abc', 'ann:'])(
  'hides the Base64 of a secret after %p without leaving a bit of the secret',
  (before) => {
    for (const [secret, other] of [
      ['hunter2secret', 'jspvfs3tfdsfu'],
      ['773177', '139428'],
      ['Kx7vqZ2mWp4', 'Na0ytC5pZs7'],
    ] as const)
      for (const encoding of ['base64', 'base64url'] as const)
        for (const after of ['', '\n', ' and more']) {
          const logOf = (text: string) => hidden(Buffer.from(before + text + after).toString(encoding), text)
          expect(logOf(secret)).toBe(logOf(other))
        }
  },
)

test.each([
  ['decomposed accents', 'Hun7erbrooké', 'Hun7erbrooké'.normalize('NFD')],
  ['decomposed accents in a URL', 'Hun7erbrooké', encodeURIComponent('Hun7erbrooké'.normalize('NFD'))],
  ['letters that change when their case changes', 'straßeHun7ος', 'STRASSEHUN7ΟΣ'],
  ['colours as JSON', 'Hun7erbrook', JSON.stringify('Hun7\u001b[31merbrook').slice(1, -1)],
  ['colours as a program writes them', 'Hun7erbrook', 'Hun7\\033[1;31merb\\e[0mrook'],
  ['characters that are ignored', '++Hun7erbrook+', '++Hun7erbrook+'],
])('hides a secret completely if it contains %s', (_what, secret, text) =>
  expect(hidden(`it is ${text}.`, secret)).toBe('it is •••.'),
)

test.each([
  ['a shell', 'ab\\$cd\\!ef\\&gh\\ ij'],
  ['a shell in quotes', `'ab$cd!ef&gh'\\'' ij'`],
  ['a shell that joins lines', 'ab\\$cd\\\n!ef&gh ij'],
  ['PowerShell', 'ab`$cd!ef&gh` ij'],
  ['a regular expression', 'ab\\$cd\\!ef\\&gh ij'],
])('hides a secret with the escapes of %s', (_what, text) => {
  for (const left of [hidden(`it is ${text}.`, 'ab$cd!ef&gh ij'), ...hideInLines([text], [], ['ab$cd!ef&gh ij'])])
    expect(left).not.toMatch(/ab|cd|ef|gh|ij/)
})
test.each([
  ['SQL', "ab''cd''ef''gh"],
  ['a shell', "'ab'\\''cd'\\''ef'\\''gh'"],
  ['a shell with two kinds of quotes', `'ab'"'"'cd'"'"'ef'"'"'gh'`],
])('hides a secret with quotes in the syntax of %s', (_what, text) =>
  expect(hidden(`it is ${text}.`, "ab'cd'ef'gh")).not.toMatch(/ab|cd|ef|gh/),
)
test('hides a secret that is split across lines by backslashes of a shell', () =>
  expect(hideInLines(['login with hu\\', 'nt\\', 'er2\\', 'secret'], [], ['hunter2secret'])).toEqual([
    'login with •••\\',
    '•••\\',
    '•••\\',
    '•••',
  ]))
test.each([
  ['bytes in a URL', 'hunter2secret', (byte: number) => `%${byte.toString(16)}`],
  [
    'bytes in a URL of letters that are not ASCII',
    '\u043f\u0430\u0440\u043e\u043b\u044c7\u0429\u0438\u0442',
    (byte: number) => `%${byte.toString(16)}`,
  ],
  ['bytes of a program', 'hunter2secret', (byte: number) => `\\x${byte.toString(16)}`],
  ['octal digits', 'hunter2secret', (byte: number) => `\\${byte.toString(8).padStart(3, '0')}`],
  ['HTML', 'hunter2secret', (byte: number) => `&#${byte};`],
  ['JSON', 'hunter2secret', (byte: number) => `\\u00${byte.toString(16)}`],
])(
  'hides a secret whose characters are all encoded as %s, even if it is split across many lines',
  (_how, secret, write) => {
    const text = [...Buffer.from(secret)].map(write).join('')
    for (const width of [3, 5, 7, 12, 13, 20, 30]) {
      const lines = text.match(new RegExp(`.{1,${width}}`, 'g'))!
      expect(hideInLines(['before', ...lines, 'after'], [], [secret])).toEqual([
        'before',
        ...lines.map(() => '•••'),
        'after',
      ])
    }
  },
)
test.each([
  ['its first characters', 'Loaded a9F3kLm2... for ann', 'Loaded •••... for ann'],
  ['its last characters', 'Incorrect argument: ...0Hs2Gf7Yq1<--[HERE]', 'Incorrect argument: ...•••<--[HERE]'],
  ['a word of it', 'syntax error at or near "Xw1Vb5Nc8Rt"', 'syntax error at or near "•••"'],
])('hides a part of a long secret in output: %s', (_what, line, shown) =>
  expect(hideInLines([line], [], ['a9F3kLm2Qz7Xw1Vb5Nc8Rt&4Yp6Jd0Hs2Gf7Yq1'])).toEqual([shown]),
)
const [UMLAUTS, OF_UMLAUTS] = ['gr\u00f6\u00dfeK\u00f6ln99!', Buffer.from('gr\u00f6\u00dfeK\u00f6ln99!')]
test.each([
  ['one question mark for each letter', UMLAUTS.replace(/[^ -~]/g, '?')],
  ['one question mark for each byte', OF_UMLAUTS.toString('latin1').replace(/[^ -~]/g, '?')],
  ['a replacement character for each byte', OF_UMLAUTS.toString('latin1').replace(/[^ -~]/g, '\ufffd')],
  ['its bytes as Latin-1', OF_UMLAUTS.toString('latin1')],
  ['its bytes as Windows-1252', new TextDecoder('windows-1252').decode(OF_UMLAUTS)],
])('hides a secret with umlauts that a program without UTF-8 prints as %s', (_what, printed) =>
  expect(hideInLines([`it is ${printed}.`], [], formsOf(UMLAUTS))).toEqual(['it is •••.']),
)
test.each([
  ['split after its sign', ['12:00:01 Hun7§', '12:00:02 kerbrook'], ['12:00:01 •••§', '12:00:02 •••']],
  ['without it in Base64', [`got ${btoa('Hun7erbrook')}.`], ['got •••=.']],
  ['without its sign in Base64', [`got ${btoa('Hun7kerbrook')}.`], ['got •••.']],
])('hides a secret that contains a colour code: %s', (_how, lines, shown) =>
  expect(hideInLines(lines, [], formsOf('Hun7§kerbrook'))).toEqual(shown),
)
test('hides most of a secret that consists of signs which the search ignores', () => {
  const secret = 'C\u00e4 7&"+\\x/q9'
  expect(hidden(`it is ${secret.slice(0, -2)}`, secret)).toBe('it is •••')
  expect(hideInLines([`it is ${secret.slice(3)}`], [], [secret])).toEqual(['it is •••'])
})
test('hides a secret that looks like encoded text, also when it is reversed', () => {
  for (const secret of ['p%41ss&amp;w', 'a\\u0041b7c9'])
    expect(hidden(`${secret} or ${[...secret].reverse().join('')}`, secret)).toBe('••• or •••')
})
test.each([' ', '-', '\u0301'])(
  'hides a secret that looks like encoded text and is printed with "%s" between its letters',
  (sign) => expect(hideInLines([[...'xY7%20z%q9'].join(sign)], [], ['xY7%20z%q9'])).toEqual(['•••']),
)

const bytesOf = (text: string) => [...Buffer.from(text)]
const escaped = (text: string, escape: (byte: number) => string) =>
  bytesOf(text).map((byte) => (byte < 128 ? String.fromCharCode(byte) : escape(byte)))
const FOREIGN = 'Gr\u00fc\u00dfe-f\u00fcr-K\u00f6ln9'

test.each([
  ['bytes of Python', escaped(FOREIGN, (byte) => `\\x${byte.toString(16)}`).join('')],
  ['octal digits', escaped(FOREIGN, (byte) => `\\${byte.toString(8)}`).join('')],
  ['code points of JavaScript', FOREIGN.replace(/[^ -~]/g, (letter) => `\\u{${letter.codePointAt(0)!.toString(16)}}`)],
  ['code points of Perl', FOREIGN.replace(/[^ -~]/g, (letter) => `\\x{${letter.codePointAt(0)!.toString(16)}}`)],
  [
    'code points of Python',
    FOREIGN.replace(/[^ -~]/g, (letter) => `\\U${letter.codePointAt(0)!.toString(16).padStart(8, '0')}`),
  ],
  ['non-standard URL escapes', FOREIGN.replace(/[^ -~]/g, (letter) => `%u00${letter.charCodeAt(0).toString(16)}`)],
  ['bytes with spaces', bytesOf(FOREIGN).join(' ')],
  [
    'hexadecimal bytes with dashes',
    Buffer.from(FOREIGN)
      .toString('hex')
      .replace(/..(?=.)/g, '$&-'),
  ],
  [
    'hexadecimal numbers',
    bytesOf(FOREIGN)
      .map((byte) => `0x${byte.toString(16)}`)
      .join(', '),
  ],
  ['bytes of Java', [...new Int8Array(Buffer.from(FOREIGN))].join(', ')],
  ['bytes with semicolons', bytesOf(FOREIGN).join(';')],
  ['bytes of PostgreSQL', `\\x${Buffer.from(FOREIGN).toString('hex')}`],
  [
    'octal digits after a zero',
    bytesOf(FOREIGN)
      .map((byte) => `\\0${byte.toString(8).padStart(3, '0')}`)
      .join(''),
  ],
  [
    'numbers of HTML with zeros',
    FOREIGN.replace(/./gu, (letter) => `&#x${letter.codePointAt(0)!.toString(16).padStart(8, '0')};`),
  ],
  ['numeric HTML entities without semicolons', FOREIGN.replace(/./gu, (letter) => `&#${letter.codePointAt(0)}`)],
  ['named HTML entities', 'Gr&uuml;&szlig;e-f&uuml;r&nbsp;-K&ouml;l&shy;n9'],
  ['a typed array as JSON', JSON.stringify(new Uint8Array(Buffer.from(FOREIGN))).slice(1, -1)],
])('hides a secret completely if it is encoded as %s', (_how, text) => {
  expect(hidden(`it is ${text}.`, FOREIGN)).toMatch(/^it is (?:0x|")?•••\.$/)
  for (let at = 1; at < text.length; at++)
    expect(hideInLines([text.slice(0, at), text.slice(at)], [], [FOREIGN]).join('')).toMatch(
      /^(?:0?x?|")?•••(?:[- ",]|&nbsp;|&shy;|&#(?:45|x0000002d;)){0,3}(?:•••)?$/,
    )
})

test.each([
  ['a window title', '\u001b]0;Hun7erbrook\u0007ready'],
  ['a link address', '\u001b]8;;http://x/Hun7erbrook\u001b\\here\u001b]8;;\u001b\\'],
  ['an unterminated window title', 'x \u009d2;Hun7erbrook'],
  ['a text for the clipboard', `\u001b]52;c;${btoa('Hun7erbrook')}\u0007`],
  ['a window title in JSON', JSON.stringify('\u001b]0;Hun7erbrook\u0007ready')],
  ['a window title in source code', '\\033]0;Hun7erbrook\\007ready'],
])('hides a secret in %s', (_where, text) => {
  for (const left of [hidden(text, 'Hun7erbrook'), ...hideInLines([text], [], ['Hun7erbrook'])]) {
    expect(left).toContain('•••')
    expect(left).not.toMatch(/Hun7|un7erb|erbrook|bjdlcmJ/)
  }
})

test.each([
  ['hides a long part of a secret in a cache key', '{"filter":"hunter2sec"}', '{"filter":"•••"}'],
  ['keeps a half of a secret, because it may be a name', 'hunter2', 'hunter2'],
])('hiderOf %s', (_what, text, shown) => expect(hidden(text, 'hunter2secret')).toBe(shown))

test.each([
  ['within a line', ['You said: hunter2secret!'], ['You said: •••!']],
  ['across two lines', ['You said: hunter2', 'secret!'], ['You said: •••', '•••!']],
  [
    'across lines that end within an encoded letter',
    ['GET /?hun%', '74er2se%6', '3ret&x=1'],
    ['GET /?•••', '•••', '•••&x=1'],
  ],
  ['across lines that end between the bytes of a letter', ['q=hunter2%73%65%63%', '72%65t.'], ['q=•••', '•••.']],
  ['across lines that end within a color code', ['hunt\u001b[3', '1mer2secret'], ['•••\u001b[3', '1m•••']],
  ['across several lines', ['hunt', 'er2s', 'ecre', 't', 'end'], ['•••', '•••', '•••', '•••', 'end']],
  ['with color codes inside', ['a \u001b[31mhunt\u001b[1;32mer2secret\u001b[0m b'], ['a \u001b[31m•••\u001b[0m b']],
  [
    'with a link, a Minecraft color and control characters inside',
    ['a \u001b]8;;http://x\u0007hun\u001b]8;;\u0007t§cer2\rse\u009b1mcret b'],
    ['a \u001b]8;;http://x\u0007••• b'],
  ],
  ['whose start is masked after a keyword', ['login •••', 'er2secret!', 'bob'], ['login •••', '•••!', 'bob']],
  ['twice, with another secret overlapping', ['hunter2secrethunter2secret hunter2secrets'], ['•••••• •••']],
])('hides a secret in lines of output %s', (_where, lines, shown) =>
  expect(hideInLines(lines, ['hunter2secrets'], ['hunter2secret'])).toEqual(shown),
)

test('the text of a chat command and long parts of it are hidden in output, but single words are not', () => {
  const lines = ['[ann] The server restarts in five minutes', '… server restarts in five', 'Stopping the server']
  expect(hideInLines(lines, [], [], ['The server restarts in five minutes'])).toEqual([
    '[ann] •••',
    '… •••',
    'Stopping the server',
  ])
})
