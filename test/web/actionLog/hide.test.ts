/** @jest-environment node */
import { hideInLines, hiderOf } from '../../../src/web/actionLog/export/hide'

const SECRET = 'Cänary 7731&"x"/+'
const hidden = (text: string, secret: string) => hiderOf([secret])(text)

test.each([
  ['as it is', `it is ${SECRET}.`],
  ['in capital letters', SECRET.toUpperCase()],
  ['with accents apart', SECRET.normalize('NFD')],
  ['in full-width letters', 'Ｃänary 7731&"x"/+'],
  ['with what is not seen within', 'Cän\u200bary\u00ad 7731&"x"/+'],
  ['without its blank', 'Cänary7731&"x"/+'],
  ['in an address', `/search?q=${encodeURIComponent(SECRET)}&page=1`],
  ['in an address, in part', encodeURI(SECRET)],
  ['in an address, in small letters', encodeURIComponent(SECRET).toLowerCase()],
  ['in a form', new URLSearchParams({ q: SECRET }).toString()],
  ['in an address within an address', encodeURIComponent(encodeURIComponent(SECRET))],
  ['in JSON', JSON.stringify({ q: SECRET })],
  ['in JSON within JSON', JSON.stringify(JSON.stringify({ q: SECRET }))],
  ['in JSON of Python', JSON.stringify({ q: SECRET }).replace('ä', '\\u00e4')],
  ['in HTML', SECRET.replace('&', '&amp;').replaceAll('"', '&#34;')],
  ['in hexadecimal digits', Buffer.from(SECRET).toString('hex').toUpperCase()],
  ['in Base64', Buffer.from(SECRET).toString('base64')],
])('a secret is hidden %s', (_where, text) => {
  const left = hidden(text, SECRET)
  expect(left).toContain('•••')
  expect(left.replace(/•••.*?[^\w%"&;]*$/s, '')).not.toMatch(/7731|x/)
})

test.each(['', 'a', 'ab', 'abc', 'ann:'])('a secret is hidden in Base64, after %p and before anything', (before) => {
  const text = btoa(`${before}hunter2secret and more`)
  const left = hidden(text, 'hunter2secret')
  expect(left).toContain('•••')
  // What is left decodes to no more than a letter of it at each end.
  expect(Buffer.from(left.replace(/^.*•••/, 'AA'), 'base64').toString('latin1')).not.toMatch(/secret/)
  expect(Buffer.from(left.replace(/•••.*$/, ''), 'base64').toString('latin1')).not.toMatch(/hunt/)
})

test.each([
  ['most of it in a key of the cache', '{"filter":"hunter2sec"}', '{"filter":"•••"}'],
  ['not half of it: it may be a name', 'hunter2', 'hunter2'],
])('of a secret is hidden elsewhere: %s', (_what, text, shown) => expect(hidden(text, 'hunter2secret')).toBe(shown))

test.each([
  ['within one', ['You said: hunter2secret!'], ['You said: •••!']],
  ['over the end of one', ['You said: hunter2', 'secret!'], ['You said: •••', '•••!']],
  ['over several', ['hunt', 'er2s', 'ecre', 't', 'end'], ['•••', '•••', '•••', '•••', 'end']],
  ['with colours within', ['a \u001b[31mhunt\u001b[1;32mer2secret\u001b[0m b'], ['a \u001b[31m•••\u001b[0m b']],
  [
    'with a link, a colour of a game and a sign that is not seen within',
    ['a \u001b]8;;http://x\u0007hun\u001b]8;;\u0007t§cer2\rse\u009b1mcret b'],
    ['a \u001b]8;;http://x\u0007••• b'],
  ],
  [
    'whose beginning was hidden by the word before it',
    ['login •••', 'er2secret!', 'bob'],
    ['login •••', '•••!', 'bob'],
  ],
  ['twice, and overlapping another', ['hunter2secrethunter2secret hunter2secrets'], ['•••••• •••']],
])('a secret in lines of output is hidden %s', (_where, lines, shown) =>
  expect(hideInLines(lines, ['hunter2secrets'], ['hunter2secret'])).toEqual(shown),
)
