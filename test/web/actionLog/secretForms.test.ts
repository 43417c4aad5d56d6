/** @jest-environment node */
import { createHash } from 'node:crypto'
import { filterTyped } from '../../../src/web/features/files/filesSlice'
import { searched } from '../../../src/web/features/instance/instanceSlice'
import { commandSubmitted } from '../../../src/web/sockets/consoleSlice'
import {
  type Action,
  call,
  codeEntered,
  expectHidden,
  lines,
  passwordEntered,
  SECRET,
} from '../../support/web/exportedLog'

test.each<[string, Action, string]>([
  ['in upper case', passwordEntered(SECRET), SECRET.toUpperCase()],
  ['as NFD', passwordEntered('Cänary7731'.normalize('NFC')), 'Cänary7731'.normalize('NFD')],
  ['in full-width letters', passwordEntered(SECRET), 'ｈｕｎｔｅｒ２ｓｅｃｒｅｔ'],
  ['with an invisible character', passwordEntered(SECRET), 'hunter\u200b2secret'],
  ['without the leading space of the pasted secret', passwordEntered(` ${SECRET}`), SECRET],
  ['as a code in two groups', codeEntered('773177'), '773 177'],
  ['as the code without its space', codeEntered('773 177'), '773177'],
])('a secret is masked when it was typed %s', (_how, typed, elsewhere) =>
  expectHidden([typed, filterTyped(elsewhere)], new RegExp(elsewhere)),
)

test.each<[string, string, string]>([
  ['partly, as in URLs', 'a&b=c ä+d@e7731', encodeURI('a&b=c ä+d@e7731')],
  ['with lower-case escapes', 'Cänary7731', 'C%c3%a4nary7731'],
  ['twice in a URL', 'Cä nary7731', encodeURIComponent(encodeURIComponent('Cä nary7731'))],
  ['as ASCII-only JSON', 'Cänary7731', 'C\\u00e4nary7731'],
  ['as JSON within JSON', 'ab"cd\\ef7731', JSON.stringify(JSON.stringify('ab"cd\\ef7731'))],
  ['as hexadecimal', SECRET, Buffer.from(SECRET).toString('hex')],
])('a secret is masked when it is encoded %s', (_how, secret, form) =>
  expectHidden([passwordEntered(secret), searched(form)], secret === SECRET ? /68756e746572/ : /7731/),
)

test.each<[string, string]>([
  ['an OSC sequence', 'hunter2\u001b]8;;x\u0007secret'],
  ['a color code with colons', 'hunter2\u001b[38:5:1msecret'],
  ['a C1 sequence', 'hunter2\u009b31msecret'],
  ['a character set sequence', 'hunter2\u001b(Bsecret'],
  ['a Minecraft color', 'hunter2§csecret'],
  ['a Minecraft color that is its own letter', 'hunter2secr§et'],
  ['a carriage return', 'hunter2\rsecret'],
  ['a backspace', 'hunter2\b\bsecret'],
])('a secret interrupted by %s is masked', (_what, line) =>
  expectHidden([passwordEntered(SECRET), lines(line)], /secret"/, true),
)
test('a secret of six characters is masked if it follows the § of a Minecraft color code', () =>
  expectHidden([passwordEntered('abcdef'), lines('it is §abcdef.'), filterTyped('§abcdef')], /bcdef/, true))
test('a colored value that is masked after a keyword is also masked where it has no color', () =>
  expectHidden([lines(`password: \u001b[33m${SECRET}\u001b[0m`), lines(`it is ${SECRET}`)], /hunter2secret/, true))

test.each([
  ['reversed', [...SECRET].reverse().join('')],
  ['as hexadecimal digits separated by colons', [...Buffer.from(SECRET)].map((byte) => byte.toString(16)).join(':')],
  ['as byte values', `[${[...Buffer.from(SECRET)].join(', ')}]`],
])('a secret is masked when it is printed %s', (_how, form) =>
  expectHidden(
    [passwordEntered(SECRET), lines(`it is ${form}`), searched(form)],
    new RegExp(form.slice(4, -4).replaceAll(' ', ' ?')),
    true,
  ),
)

test.each([
  ['a timestamp', ['[12:00:01 INFO]: hunter', '[12:00:01 INFO]: 2secret!']],
  ['a date', ['2026-11-22T12:00:01.123Z hunt', '2026-11-22T12:00:01.124Z er2s', '2026-11-22T12:00:01.125Z ecret']],
  ['a level and a name', ['INFO [main] hunt', 'INFO [main] er2secret']],
  ['an unknown common prefix', ['<<lobby#1>> say=hunter', '<<lobby#2>> say=2secret']],
  ['a symbol', ['> hunter', '> 2secret']],
  ['a colored timestamp', ['\u001b[32m12:00:01\u001b[0m hunter', '\u001b[32m12:00:02\u001b[0m 2secret']],
  [
    'a key of JSON, and end with others',
    ['hunt', 'er2s', 'ecret'].map((msg, at) => JSON.stringify({ msg, at, pid: 7 })),
  ],
  ['nothing, and end with a time', ['hunt (12:00:01)', 'er2s (12:00:02)', 'ecret (12:00:03)']],
  ['a word and a dash', ['[main] c.e.App - hunter', '[main] c.e.App - 2secret']],
  ['a field, and end with another', ['t=1 msg="hunt" pid=7', 't=2 msg="er2s" pid=7', 't=3 msg="ecret" pid=7']],
  ['a line number', ['9 | hunter', '10 | 2secret']],
  ['another level each', ['{"level":"info","msg":"hunter","at":1}', '{"level":"warn","msg":"2secret","at":2}']],
  ['the side of a frame, and end with another', ['+------+', '| hunt |', '| er2s |', '| ecret|', '+------+']],
])('a secret split across lines that start with %s is masked', (_what, said) =>
  expectHidden([passwordEntered(SECRET), lines(...said)], /hunt|2sec|ecret/, true),
)
test.each(['p@ss:w/rd#1?x=2', 'Tr0,ub4;dor.9'])(
  'the secret %p is masked where a program leaves letters and digits of it, as in a name of a file',
  (secret) =>
    expectHidden(
      [
        passwordEntered(secret),
        ...['-', '_', ''].map((sign) => lines(`made ${secret.replace(/[^a-z0-9]+/gi, sign)}.txt`)),
      ],
      /ss.?w.?rd.?1|Tr0.?ub4/,
      true,
    ),
)

test('the start of a secret is masked where a keyword inside the secret caused the rest to be masked', () => {
  const secret = 'Zebra7secret:x9y8w7v6u5t4'
  for (const said of [
    lines(`it is ${secret}`),
    call('restartDeployment', 'world', 'rejected', { status: 500, message: `Odd: ${secret}` }),
    call('getDeployments', undefined, 'fulfilled', [{ name: 'world', description: `${secret} it is` }]),
  ])
    expectHidden([passwordEntered(secret), said], /Zebra7/)
})

test('a secret that overlaps itself is masked completely', () =>
  expectHidden([passwordEntered('xyxyxyxy'), filterTyped('xyxyxyxyxy')], /•xy/))

test('a long secret is masked completely', () => {
  const long = (words: number) =>
    Array.from({ length: words }, (_, index) =>
      createHash('sha256').update(String(index)).digest('hex').slice(0, 10),
    ).join('-')
  const token = long(120)
  expectHidden([commandSubmitted(`setkey ${token}`), filterTyped(`x ${token}`)], new RegExp(token.slice(500, 530)))
  expectHidden(
    [commandSubmitted(`setkey ${token}`), lines(`got ${token.slice(400, 600)}`)],
    new RegExp(token.slice(490, 510)),
    true,
  )
  const longest = long(1500)
  expectHidden(
    [commandSubmitted(`setkey ${longest}`), filterTyped(`x ${longest}`)],
    new RegExp(longest.slice(12_000, 12_030)),
  )
})

test.each(['hunt', 'er2s', 'cre', 'ecret'])('a secret pasted in pieces is masked: %s', (piece) =>
  expectHidden([passwordEntered(SECRET), filterTyped(piece)], new RegExp(`"${piece}"`)),
)
