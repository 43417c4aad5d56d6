/** @jest-environment node */
import { draftTyped } from '../../../src/web/features/deployments/configuration/configurationSlice'
import { filterTyped } from '../../../src/web/features/files/filesSlice'
import { commandsLoaded } from '../../../src/web/features/instance/instanceSlice'
import { commandSubmitted } from '../../../src/web/sockets/consoleSlice'
import { type Action, call, expectHidden, exported, lines, SECRET } from '../../support/web/exportedLog'

test.each([
  `mysql -u root -p${SECRET}`,
  `setup --password=${SECRET}`,
  `setkey key=${SECRET}`,
  `connect mysql://root:${SECRET}@db/x`,
  `addkey ann:${SECRET}`,
])('a secret inside a word of the command %p is masked in other fields and in the output', (command) => {
  expectHidden([commandSubmitted(command), filterTyped(SECRET)], /hunter2secret/)
  expectHidden([commandSubmitted(command), lines(`I got ${SECRET}`)], /hunter2secret/, true)
})
test.each(['-pX', '{"password":"X"}', '/setup:X', 'setkey key=X', 'login ann "X"', 'user=ann;pwd=X;', 'use a://b:X@c'])(
  'a secret with separators, inside a word of the command %p, is masked in the output in all encodings',
  (template) => {
    const secret = 'w1nter&lamp=9+x'
    const said = [secret, `got ${btoa(secret)}.`, Buffer.from(secret).toString('hex')]
    expectHidden(
      [commandSubmitted(template.replace('X', secret)), lines(...said)],
      /w1nter|dzFudG|JmxhbXA|77316e74/,
      true,
    )
  },
)
test.each(['setkey x7 k2 p9 q4', 'setkey "x7 k2 p9 q4"', 'verify x7 k2 p9 q4'])(
  'a code of short groups in the command %p is masked in other fields and in the output',
  (command) =>
    expectHidden(
      [
        commandSubmitted(command),
        call('getFiles', '/', 'fulfilled', { files: [{ name: 'x7k2p9q4.txt' }] }),
        lines('got x7 k2 p9 q4', `got ${btoa('x7 k2 p9 q4')}.`),
      ],
      /x7 ?k2|eDcgazI/,
    ),
)
test.each([
  ['register X X', commandSubmitted],
  ['login ann X', commandSubmitted],
  ['mysql -u root -pX', commandSubmitted],
  ['config set smtp.password X', commandSubmitted],
  ['run:\n  command:\n    - bot\n    - --password\n    - X\n', (text: string) => draftTyped({ name: 'world', text })],
])('the passphrase in %j is masked in all encodings, wherever it is', (template, type) => {
  const secret = 'correct horse "battery" staple'
  const said = [secret, btoa(secret), btoa(`a${secret}`), Buffer.from(secret).toString('hex')]
  expectHidden(
    [
      type(template.replaceAll('X', secret)),
      call('getDeployments', undefined, 'fulfilled', [{ name: 'world', description: said.join(' or ') }]),
      lines(...said),
    ],
    /horse|BvcnNl|b3JzZ|aG9yc2|686f727365/,
  )
})
test.each([
  ['a command', commandSubmitted('setkey correct horse battery staple')],
  [
    'a setting that does not look secret',
    draftTyped({ name: 'world', text: 'env:\n  LIST: correct horse battery staple' }),
  ],
])('a passphrase of ordinary words in %s is masked in the output in all encodings', (_where, typed) =>
  expectHidden(
    [
      typed,
      lines(
        `got ${btoa('ann:correct horse battery staple')}.`,
        '636f727265637420686f727365206261747465727920737461706c65',
      ),
    ],
    /RlcnkgC|JzZSBi|686f7273/,
    true,
  ),
)
test.each([
  [`say ${SECRET}`, `You said: say ${SECRET}`],
  ['say Zebra-7731x', `got ${btoa('Zebra-7731x')}`],
  ['say correct horse battery', '<console> Correct horse battery'],
  ['say the door is Zebra-7731x, come in', 'ann got zebra-7731x'],
])('the typed text of the harmless command %p is masked in the output', (command, line) => {
  const { text } = exported([commandSubmitted(command), lines(line, 'the door opens')], true)
  expect(text).not.toMatch(/hunter2secret|WmVicmEt|horse|zebra/i)
  expect(text).toContain('the door opens')
})
test.each([
  ['a command of an address', 'git clone https://p@ss:w/rd#1?x=2@github.com/x', ['got /foo p@ss:w/rd#1?x=2']],
  ['split after a bracket', 'auth p@ss:w/rd#1?x=2', ['[12:00:01] [main]: p@ss:w', '[12:00:02] [main]: /rd#1?x=2']],
])('a secret is masked completely in a line of output that looks like a call: %s', (_what, command, said) =>
  expectHidden([commandSubmitted(command), lines(...said)], /p@s|[s•]:w|rd#|=2/, true),
)
test.each(['foo %X%', 'foo *X*', 'foo a.X.b', 'foo ~X', 'foo $X', 'foo X!', 'foo |X|'])(
  'a secret between signs in the command %p is masked in the output in all encodings',
  (template) => {
    for (const secret of ['84729163', 'Kx7vqZ2mWp4'])
      expectHidden(
        [commandSubmitted(template.replace('X', secret)), lines(`it is ${secret}`, `got ${btoa(secret)}.`)],
        /847291|ODQ3Mjkx|Kx7vqZ|S3g3dnFa/,
        true,
      )
  },
)
test.each([
  'give ann stone{display:{Name:"X"}}',
  'setblock 1 2 3 oak_sign{Text1:"X"}',
  `summon a {CustomName:'{"text":"X","color":"red"}'}`,
  'scoreboard players set 84729163 y 1',
])('a quoted text and a long number in the harmless command %p are masked in the output', (template) => {
  for (const secret of ['brave horse lamp', 'p@ss:w/rd#1', '84729163'])
    if (template.includes('X') || secret === '84729163')
      expectHidden(
        [commandSubmitted(template.replace('X', secret)), lines(`<ann> ${secret}, ok?`, `got ${btoa(secret)}.`)],
        /brave|YnJhdm|p@ss|cEBzcz|847291|ODQ3Mjkx/,
        true,
      )
})
test('a secret that was typed as a command is masked in all encodings, with or without a leading slash', () =>
  expectHidden([commandSubmitted('/Zebra7731x'), lines(`got ${btoa('Zebra7731x')}.`)], /WmVicmE/, true))
test('a secret in the command history of an earlier visit is masked', () =>
  expectHidden([commandsLoaded([`setkey ${SECRET}`]), filterTyped(SECRET)], /hunter2secret/))

test.each([`execute as ann run setkey ${SECRET}`, `execute run login ${SECRET}`])(
  'the secret in the nested command of %p is masked',
  (command) => expectHidden([commandSubmitted(command)], /hunter2secret/),
)

test('messages of the console and the key of an assignment in a command are kept', () => {
  const { text } = exported(
    [
      commandSubmitted(`set password=${SECRET}`),
      {
        type: 'notifications/notified',
        payload: { id: '1', type: 'success', message: 'Successfully reset the password of bob' },
      } as Action,
    ],
    false,
  )
  expect(text).toContain('"Successfully reset the password of bob"')
  expect(text).not.toContain(SECRET)
})

test.each(["x='S'; run $x", 'S3=S aws s3 ls', '4711:S now', '"S" is it'])(
  'a secret in the first word of %p, which is no name of a command, is masked everywhere and in parts',
  (template) => {
    const command = template.replace('S', 'Mkeg4Q8va9sG9vu')
    const files = call('getFiles', '/', 'fulfilled', { files: [{ name: 'Mkeg4Q8va9sG9vu.txt' }] })
    expectHidden([commandSubmitted(command), files], /eg4Q8va9s/)
    expectHidden([commandSubmitted(command), lines('first: Mkeg4Q8v', 'rest: 8va9sG9vu')], /eg4Q8|a9sG9/, true)
  },
)
