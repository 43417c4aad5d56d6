import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import * as ts from 'typescript'

const tests = join(__dirname, '..')

/** A row of `SECURITY.md` or `PRODUCT.md`: the requirement, its tests as `file`: title, and the result. */
export interface Row {
  number: string
  text: string
  proofs: string[]
  result: string
}

/** Parses the numbered rows of a Markdown table. A `|` within a cell is written `\|`. */
export function rowsOf(markdown: string): Row[] {
  return markdown
    .split('\n')
    .filter((line) => /^\| [\d.]+ \|/.test(line))
    .map((line) => {
      const [, number = '', text = '', proofs = '', result = ''] = line
        .split(/(?<!\\)\|/)
        .map((cell) => cell.trim().replaceAll('\\|', '|'))
      return { number, text, proofs: proofs.split('<br>').filter(Boolean), result }
    })
}

export const readTable = (name: string): string => readFileSync(join(tests, name), 'utf8')

const titles = new Map<string, Set<string>>()

/**
 * Collects the first string argument of every call, which includes test titles; a template counts up to its first
 * placeholder.
 */
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

/** Fails unless each file exists and has a test with that title. A benchmark may be named without a title. */
export function expectProofs(proofs: string[]): void {
  for (const proof of proofs) {
    const [, file = '', title] = /^`([\w/.-]+)`(?:: (.+))?$/.exec(proof) ?? []
    expect({ proof, isFile: file !== '' && existsSync(join(tests, file)) }).toEqual({ proof, isFile: true })
    if (title === undefined) expect(file).toMatch(/^bench\//)
    else expect({ proof, isTitle: titlesOf(file).has(title) }).toEqual({ proof, isTitle: true })
  }
}
