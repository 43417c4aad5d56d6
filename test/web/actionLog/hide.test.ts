import { formsOf, hideInLines, hiderOf } from '../../../src/web/actionLog/hide'

const SECRET = 'Cänary 7731&"x"/+'
const hidden = (text: string, ...secrets: string[]) => hiderOf(secrets, text)(text)

test.each([
  ['as it is', `it is ${SECRET}.`],
  ['in an address', `/search?q=${encodeURIComponent(SECRET)}&page=1`],
  ['in a form', new URLSearchParams({ q: SECRET }).toString()],
  ['in JSON', JSON.stringify({ q: SECRET })],
])('a secret is hidden %s', (_where, text) => {
  expect(hidden(text, SECRET)).toContain('•••')
  for (const form of formsOf(SECRET)) expect(hidden(text, SECRET)).not.toContain(form)
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
  ['what was typed of it before it was changed', 'hunter2', '•••'],
  ['its beginning at the end of a text', 'say hunter2se', 'say •••'],
  ['its beginning in a key of the cache', '{"filter":"hunter2sec"}', '{"filter":"•••"}'],
  ['not what only begins like it', 'hunter2server', 'hunter2server'],
  ['nor less than half of it', 'hunter', 'hunter'],
])('of a secret is hidden: %s', (_what, text, shown) => expect(hidden(text, 'hunter2secret')).toBe(shown))

test.each([
  ['within one', ['You said: hunter2secret!'], ['You said: •••!']],
  ['over the end of one', ['You said: hunter2', 'secret!'], ['You said: •••', '•••!']],
  ['over several', ['hunt', 'er2s', 'ecre', 't', 'end'], ['•••', '•••', '•••', '•••', 'end']],
  ['with colours within', ['a \u001b[31mhunt\u001b[1;32mer2secret\u001b[0m b'], ['a \u001b[31m•••\u001b[0m b']],
  ['whose beginning was hidden by the word before it', ['login •••', 'er2secret!', 'bob'], ['login •••', '•••!', 'bob']],
  ['twice, and overlapping another', ['hunter2secrethunter2secret hunter2secrets'], ['•••••• •••']],
])('a secret in lines of output is hidden %s', (_where, lines, shown) => expect(hideInLines(lines, ['hunter2secrets'], ['hunter2secret'])).toEqual(shown))
