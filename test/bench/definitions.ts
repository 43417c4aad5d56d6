import { performance } from 'node:perf_hooks'
import { readDefinition } from '../../src/contract/definitionText'

/** Measures how long the worst texts take to be refused: each must stay under 200 ms (security 31). */
const LIMIT = 16 * 1024
const fill = (make: (at: number) => string) => {
  let text = ''
  for (let at = 0; text.length < LIMIT - 60; at++) text += make(at)
  return text
}
const keys = 'abcdefghijklm'
const texts: Record<string, string> = {
  'alias bomb': [...keys]
    .map(
      (key, at) =>
        `${key}: &${key} [${Array(9)
          .fill(at === 0 ? 'x' : `*${keys[at - 1]}`)
          .join(',')}]`,
    )
    .join('\n'),
  'merge bomb': [...keys]
    .map(
      (key, at) =>
        `${key}: &${key} {<<: [${Array(9)
          .fill(at === 0 ? 'x' : `*${keys[at - 1]}`)
          .join(',')}]}`,
    )
    .join('\n'),
  '10,000 open brackets': '['.repeat(10_000),
  '10,000 dashes': `${'- '.repeat(10_000)}x`,
  'distinct keys in a flow map': `{${fill((at) => `k${at}: 1,`)}}`,
  'distinct keys in a block': fill((at) => `k${at}: 1\n`),
  'environment of a valid text': `name: a\ntype: process\ndataDirectory: /a\nrun:\n  command: [x]\n  env:\n${fill((at) => `    K${at}: v\n`).slice(0, LIMIT - 200)}`,
  anchors: fill(() => '&a '),
  'a hundred levels': Array.from({ length: 100 }, (_level, at) => `${' '.repeat(at)}a:`).join('\n'),
  quotes: `"${'\\'.repeat(LIMIT - 10)}`,
  tabs: '\t'.repeat(LIMIT - 10),
}

for (const [name, text] of Object.entries(texts)) {
  const begun = performance.now()
  const result = readDefinition(text)
  console.log(
    `${name}: ${(performance.now() - begun).toFixed(0)} ms, ${'problem' in result ? result.problem.message.slice(0, 60) : 'accepted'}`,
  )
}
