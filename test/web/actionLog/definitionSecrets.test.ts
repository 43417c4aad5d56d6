/** @jest-environment node */
import { draftTyped } from '../../../src/web/features/deployments/configuration/configurationSlice'
import { linesReceived } from '../../../src/web/sockets/consoleSlice'
import { call, expectNowhere, files } from '../../support/web/exportedLog'
import { exportOf } from '../../support/web/secretLeaks'

const definition = (setting: string) => `name: world\ntype: process\nrun:\n  env:\n    ${setting}\n    OTHER: plain\n`
const block = (first: string, ...more: string[]) => [first, ...more.map((line) => `      ${line}`)].join('\n')

test.each([
  ['with a quote in quotes', "PASSWORD: 'it''s 7 ''q'' xx'", "it's 7 'q' xx"],
  ['with escapes', 'PASSWORD: "ab\\"cd\\\\ef\\u00e4\\x67h"', 'ab"cd\\ef\u00e4gh'],
  ['as a block', block('PASSWORD: |', 'hunter2secret'), 'hunter2secret'],
  ['as a block with a tag', block('PASSWORD: !!str |- # it is', 'correct horse'), 'correct horse'],
  ['as a folded block', block('PASSWORD: >-', 'hunter2', 'secret'), 'hunter2 secret'],
  ['on the next line', block('PASSWORD:', 'hunter2secret'), 'hunter2secret'],
  ['on two lines', block('PASSWORD: hunter2', 'battery staple'), 'hunter2 battery staple'],
  ['on two lines in quotes', block('PASSWORD: "hunter2', 'battery staple"'), 'hunter2 battery staple'],
  ['of a list', block('TOKENS:', '- correct horse', '- battery staple'), 'battery staple'],
  ['before a comment', 'PASSWORD: correct horse # that of the year before', 'correct horse'],
  ['among others', '{ PASSWORD: correct horse, A: yesterday, B: tomorrow }', 'correct horse'],
])('a secret that a definition has %s is hidden as the program has it', (_how, setting, value) => {
  const encoded = ['base64', 'hex'].map((encoding) => Buffer.from(value).toString(encoding as 'hex'))
  const content = definition(setting)
  for (const known of [
    draftTyped({ name: 'world', text: content }),
    call('getDeploymentConfig', 'world', 'fulfilled', { content }),
  ]) {
    const text = exportOf(
      [
        known,
        files(`${value}.txt`, ...encoded.map((name) => `${name}.txt`)),
        linesReceived([value, ...encoded].map((form) => ({ type: 'message', content: `got ${form}.` }))),
      ],
      true,
    )
    expectNowhere(text, JSON.stringify(value).slice(1, -1))
    for (const form of encoded) expectNowhere(text, form.slice(4, -4))
    expect(text).not.toMatch(/staple|horse/)
  }
})

test('the settings after a secret are not a part of it', () => {
  const content = `name: world\nrun:\n  env:\n    PASSWORD: hunter2secret\n    MOTD: welcome everyone\nnode: one\n`
  const text = exportOf([draftTyped({ name: 'world', text: content }), files('welcome everyone.txt')])
  expect(text).toContain('welcome everyone.txt')
})
