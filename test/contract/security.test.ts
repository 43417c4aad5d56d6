import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import * as ts from 'typescript'

/** `test/SECURITY.md` names for each case the tests that prove it: this keeps the table true. */
const tests = join(__dirname, '..')

interface Row {
  number: number
  text: string
  proofs: string[]
  result: string
}

const rows: Row[] = readFileSync(join(tests, 'SECURITY.md'), 'utf8')
  .split('\n')
  .filter((line) => /^\| \d+ \|/.test(line))
  .map((line) => {
    const [, number, text = '', proofs = '', result = ''] = line.split('|').map((cell) => cell.trim())
    return { number: Number(number), text, proofs: proofs.split('<br>').filter(Boolean), result }
  })

const titles = new Map<string, Set<string>>()

/** Every first argument of a call that is a text: among them the titles of tests. Of a title with placeholders, what stands before the first. */
function titlesOf(file: string): Set<string> {
  const known = titles.get(file)
  if (known) return known
  const found = new Set<string>()
  const visit = (node: ts.Node): void => {
    const first = ts.isCallExpression(node) ? node.arguments[0] : undefined
    if (first && ts.isStringLiteralLike(first)) found.add(first.text)
    if (first && ts.isTemplateExpression(first)) found.add(first.head.text.trim())
    ts.forEachChild(node, visit)
  }
  visit(ts.createSourceFile(file, readFileSync(join(tests, file), 'utf8'), ts.ScriptTarget.Latest, false))
  titles.set(file, found)
  return found
}

test('SECURITY.md holds the sixty cases, each once and in order', () => {
  expect(rows.map(({ number }) => number)).toEqual(Array.from({ length: 60 }, (_case, at) => at + 1))
  for (const { number, text } of rows) expect([number, text]).toEqual([number, expect.stringContaining(' → ')])
})

test.each(rows.map((row): [number, Row] => [row.number, row]))('the tests that SECURITY.md names for case %i are there, under these titles', (_number, { proofs, result }) => {
  for (const proof of proofs) {
    const [, file = '', title] = /^`([\w/.-]+)`(?:: (.+))?$/.exec(proof) ?? []
    expect({ proof, isFile: file !== '' && existsSync(join(tests, file)) }).toEqual({ proof, isFile: true })
    if (title === undefined) expect(file).toMatch(/^bench\//)
    else expect({ proof, isTitle: titlesOf(file).has(title) }).toEqual({ proof, isTitle: true })
  }
  // A case that only a benchmark proves, or nothing, says why.
  if (!proofs.some((proof) => proof.includes('`: '))) expect(result).toMatch(/^(?!Holds\.$).{20,}/)
  expect(result).not.toBe('')
})
