import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import ts from 'typescript'

export interface FoundPattern {
  /** `src/…/file.ts:12` */
  place: string
  pattern: RegExp
}

/** A call that builds an expression at run time: `place` is the file, without the line. */
export interface Built {
  place: string
  text: string
}

/** Finds every regular expression literal in a folder, and every call that builds one from a string. */
export function patternsOf(root: string, folder: string): { literals: FoundPattern[]; built: Built[] } {
  const literals: FoundPattern[] = []
  const built: Built[] = []
  for (const path of readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })) {
    if (!/\.(?:[cm]?js|tsx?)$/.test(path)) continue
    const file = join(folder, path)
    const source = ts.createSourceFile(file, readFileSync(join(root, file), 'utf8'), ts.ScriptTarget.Latest)
    const visit = (node: ts.Node): void => {
      if (ts.isRegularExpressionLiteral(node)) {
        const text = node.getText(source)
        const end = text.lastIndexOf('/')
        const { line } = source.getLineAndCharacterOfPosition(node.getStart(source))
        literals.push({ place: `${file}:${line + 1}`, pattern: new RegExp(text.slice(1, end), text.slice(end + 1)) })
      } else if (
        (ts.isNewExpression(node) || ts.isCallExpression(node)) &&
        ts.isIdentifier(node.expression) &&
        node.expression.text === 'RegExp'
      ) {
        built.push({ place: file, text: node.getText(source) })
      }
      ts.forEachChild(node, visit)
    }
    visit(source)
  }
  return { literals, built }
}
