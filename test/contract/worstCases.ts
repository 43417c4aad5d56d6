import { parseRegExpLiteral, type AST } from '@eslint-community/regexpp'

/** An attack text: `prefix`, any number of `pump`s, then `suffix`. */
export interface Attack {
  prefix: string
  pump: string
  suffix: string
}

/** Characters that patterns are likely to distinguish, the most relevant first. */
const CANDIDATES = [
  ...'a0 A:/=-_."\'\\@;,b1zZ9+*?#!$%&()<>[]^`{|}~\t\n\r\0\u0001\u0007\u001b\u007f\u0080\u0090\u009b\u009c\u00adé\u200b\u2028\u2060€\ufeff\ufffe',
]
/** A character that no pattern mentions. */
const STRANGE = '\u0003'
const MOST_PUMPS = 90
const MOST_PREFIXES = 6

/**
 * Generates texts that make a backtracking matcher do the most work on a pattern: a repetition of what its parts match,
 * after a prefix that its start matches, before a character that it does not match.
 */
export function worstCasesOf(pattern: RegExp): Attack[] {
  const ast = parseRegExpLiteral(pattern)
  const flags = pattern.flags.replace(/[gy]/g, '')
  const alphabet = alphabetOf(ast, flags)
  const words = new Set<string>()
  const prefixes = new Set<string>([''])
  let hasEnd = false
  walk(ast.pattern, (node) => {
    if (node.type === 'Assertion' && node.kind !== 'start') hasEnd = true
    if (node.type === 'Alternative') {
      for (let end = 1; end <= node.elements.length; end++) {
        prefixes.add(sampleOf(node.elements.slice(0, end), alphabet, flags))
        // An unanchored repetition at the start is tried at every position.
        words
          .add(sampleOf(node.elements.slice(end - 1), alphabet, flags))
          .add(sampleOf(node.elements.slice(0, end), alphabet, flags))
      }
    }
    if (node.type === 'Quantifier') words.add(sampleOf([node.element], alphabet, flags))
  })
  const pumps = new Set<string>(alphabet)
  for (const word of words) if (word !== '') pumps.add(word)
  for (const word of words) for (const character of alphabet) if (word !== '') pumps.add(word + character)
  for (const one of alphabet) for (const other of alphabet) pumps.add(one + other)
  const attacks: Attack[] = []
  // A mismatch after an expected suffix makes the pattern backtrack.
  const suffixes = hasEnd ? ['', STRANGE] : ['']
  for (const prefix of [...prefixes].slice(0, MOST_PREFIXES)) {
    for (const pump of [...pumps].slice(0, MOST_PUMPS))
      for (const suffix of suffixes) attacks.push({ prefix, pump, suffix })
  }
  return attacks
}

type Atom = AST.CharacterSet | AST.Character | AST.CharacterClass | AST.ExpressionCharacterClass

/** One character for each set of atoms of the pattern that match the same characters. */
function alphabetOf(ast: AST.RegExpLiteral, flags: string): string[] {
  const atoms = new Set<string>()
  walk(ast.pattern, (node) => {
    if (isAtom(node)) atoms.add(node.raw)
  })
  // \b distinguishes word characters, too.
  const tests = ['\\w', ...atoms].map((raw) => new RegExp(`^(?:${raw})$`, flags))
  const bySignature = new Map<string, string>()
  const own = [...atoms].filter((raw) => raw.length === 1)
  for (const character of [...CANDIDATES, ...own]) {
    const signature = tests.map((test) => Number(test.test(character))).join('')
    if (signature.includes('1', 1) && !bySignature.has(signature)) bySignature.set(signature, character)
  }
  // A pattern is ambiguous at characters that many atoms match.
  const matches = (signature: string) => signature.replaceAll('0', '').length
  return [...bySignature].sort(([a], [b]) => matches(b) - matches(a)).map(([, character]) => character)
}

function sampleOf(elements: readonly AST.Element[], alphabet: readonly string[], flags: string): string {
  return elements.map((element) => sampleOfOne(element, alphabet, flags)).join('')
}

/** A short text that an element matches; empty for an element that matches no characters. */
function sampleOfOne(element: AST.Element, alphabet: readonly string[], flags: string): string {
  switch (element.type) {
    case 'Group':
    case 'CapturingGroup':
      return sampleOf(element.alternatives[0]?.elements ?? [], alphabet, flags)
    case 'Quantifier':
      return element.max === 0 ? '' : sampleOfOne(element.element, alphabet, flags).repeat(Math.max(1, element.min))
    case 'Character':
      return String.fromCodePoint(element.value)
    case 'CharacterSet':
    case 'CharacterClass':
    case 'ExpressionCharacterClass': {
      const test = new RegExp(`^(?:${element.raw})$`, flags)
      return [...alphabet, ...CANDIDATES].find((character) => test.test(character)) ?? ''
    }
    default:
      return ''
  }
}

const isAtom = (node: AST.Node): node is Atom =>
  ['Character', 'CharacterSet', 'CharacterClass', 'ExpressionCharacterClass'].includes(node.type)

function walk(node: AST.Node, visit: (node: AST.Node) => void): void {
  visit(node)
  if (isAtom(node)) return
  if ('alternatives' in node) for (const alternative of node.alternatives) walk(alternative, visit)
  if ('elements' in node) for (const element of node.elements) walk(element, visit)
  if (node.type === 'Quantifier') walk(node.element, visit)
}
