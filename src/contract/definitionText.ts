import {
  Composer,
  isCollection,
  isMap,
  isNode,
  isScalar,
  LineCounter,
  Parser,
  visit,
  type CST,
  type Document,
} from 'yaml'
import type { z } from 'zod'
import { Definition } from './deployment'
import { issueMessage } from './issueMessage'

/** In UTF-16 code units. Far more than a deployment needs; any text up to this size is parsed within 200 ms. */
const TEXT_LIMIT = 16 * 1024
const DEPTH_LIMIT = 100
const ALIAS_LIMIT = 20
/** Number of errors that are reported. */
const PROBLEM_LIMIT = 10
/** Number of lines that begin with %. A valid text has at most one. */
const DIRECTIVE_LIMIT = 10

/** An error in a text. `message` is shown to the user. */
export interface DefinitionProblem {
  message: string
  /** Path of the setting, for example `run.port`. */
  field?: string
  /** One-based. */
  line?: number
}

/**
 * Reads a deployment's YAML (1.2, core schema). Refuses alias bombs, deep nesting, custom tags and unknown keys before
 * it builds any value.
 * @param fixed settings that cannot change after creation
 * @returns the definition, or the first problem, and further ones of its settings by their lines
 */
export function readDefinition(
  text: string,
  fixed: Partial<Pick<Definition, 'name' | 'type'>> = {},
): { definition: Definition } | { problem: DefinitionProblem; others?: DefinitionProblem[] } {
  if (text.length > TEXT_LIMIT) return problem(`The configuration is larger than ${TEXT_LIMIT / 1024} KiB.`)
  if (isTooDeep(text)) return problem('The configuration is nested too deeply.')
  const lines = new LineCounter()
  const parsed = parse(text, lines)
  if (!parsed) return problem('The configuration is nested too deeply.')
  const { document, fault } = parsed
  if (fault) return problem(`${fault.message.replace(/\.$/, '')}.`, { line: lines.linePos(fault.pos[0]).line })
  let value: unknown
  try {
    value = document.toJS({ maxAliasCount: ALIAS_LIMIT })
  } catch {
    return problem('The configuration uses too many aliases.')
  }
  const result = Definition.safeParse(value, { error: issueMessage })
  if (result.success) {
    const changedKey = (['name', 'type'] as const).find(
      (key) => fixed[key] !== undefined && fixed[key] !== result.data[key],
    )
    if (!changedKey) return { definition: result.data }
    return problem(`${changedKey}: is fixed after creation and must stay "${fixed[changedKey]}"`, {
      field: changedKey,
      line: lineOf(document, [changedKey], lines),
    })
  }
  const found = settingsIn(result.error.issues)
    .slice(0, PROBLEM_LIMIT)
    .map(({ path, message, isUnknown }) => {
      const field = path.join('.')
      const line = (isUnknown && lineOfKey(document, path, lines)) || lineOf(document, path, lines)
      if (field === '') return problem('The configuration must be a list of settings such as "name: lobby".', { line })
      return problem(`${field}: ${message}`, { field, line })
    })
  const [first, ...others] = found.map((one) => one.problem)
  if (!first) return problem('The configuration is not valid.')
  if (others.length === 0) return { problem: first }
  return { problem: first, others: others.sort((a, b) => (a.line ?? 0) - (b.line ?? 0)) }
}

interface SettingIssue {
  path: string[]
  message: string
  isUnknown: boolean
}

/** An unknown setting is often a missing one with a typo, so unknown ones come first. */
function settingsIn(issues: z.core.$ZodIssue[]): SettingIssue[] {
  const settings = issues.flatMap((issue) => {
    const path = issue.path.map(String)
    if (issue.code !== 'unrecognized_keys') return [{ path, message: issue.message, isUnknown: false }]
    return issue.keys.map((key) => ({
      path: [...path, key],
      message: 'is not a setting of a deployment',
      isUnknown: true,
    }))
  })
  return [...settings.filter(({ isUnknown }) => isUnknown), ...settings.filter(({ isUnknown }) => !isUnknown)]
}

interface Fault {
  message: string
  /** Offset of the error's start in UTF-16 code units. */
  pos: readonly [number, ...number[]]
}

type Parsed = { document: Document; fault?: never } | { document?: never; fault: Fault }

/**
 * Parses up to the first error: the library would continue, and create an error for each character of a malformed text.
 * @returns undefined if the recursive parser ran out of stack
 */
function parse(text: string, lines: LineCounter): Parsed | undefined {
  // With `uniqueKeys` the library compares each key with all before it: 3,000 keys take a quarter of a second.
  const composer = new Composer({ version: '1.2', uniqueKeys: false, prettyErrors: false })
  let warning: Fault | undefined
  const { onError } = composer as unknown as { onError: OnError }
  Object.assign(composer, {
    onError: ((source, code, message, isWarning) => {
      onError(source, code, message, isWarning)
      const { errors, warnings } = composer as unknown as { errors: Fault[]; warnings: Fault[] }
      if (errors[0]) throw new FirstFault(errors[0])
      warning ??= warnings[0]
      warnings.length = 0
    }) satisfies OnError,
  })
  try {
    const [document, second] = composer.compose(upToError(new Parser(lines.addNewLine).parse(text)), true, text.length)
    if (!document) return undefined
    const fault =
      document.errors[0] ??
      (second && { message: 'The configuration must be one document', pos: second.range }) ??
      warning ??
      keyFaultOf(document)
    return fault ? { fault } : { document }
  } catch (error) {
    if (error instanceof FirstFault) return { fault: error.fault }
    if (error instanceof RangeError) return undefined
    throw error
  }
}

type OnError = (source: unknown, code: string, message: string, isWarning?: boolean) => void

class FirstFault extends Error {
  constructor(readonly fault: Fault) {
    super(fault.message)
  }
}

function* upToError(tokens: Iterable<CST.Token>): Generator<CST.Token> {
  let directives = 0
  for (const token of tokens) {
    yield token
    if (token.type === 'directive') directives += 1
    if (token.type === 'error' || directives > DIRECTIVE_LIMIT) return
  }
}

/** Finds a key that is a collection, which toJS would convert to a string, or a duplicate key. */
function keyFaultOf(document: Document): Fault | undefined {
  let fault: Fault | undefined
  visit(document, {
    Map(_key, { items }) {
      const seen = new Set<unknown>()
      for (const { key } of items) {
        if (isCollection(key)) fault = { message: 'Map keys must be texts', pos: key.range ?? [0] }
        else if (isScalar(key) && seen.has(key.value))
          fault = { message: 'Map keys must be unique', pos: key.range ?? [0] }
        if (fault) return visit.BREAK
        if (isScalar(key)) seen.add(key.value)
      }
      return undefined
    },
  })
  return fault
}

function problem(
  message: string,
  place: Pick<DefinitionProblem, 'field' | 'line'> = {},
): { problem: DefinitionProblem } {
  return { problem: { message: (place.line === undefined ? '' : `Line ${place.line}: `) + message, ...place } }
}

/** Returns the line of a path's value or, if it is missing, of its nearest ancestor. */
function lineOf(document: Document, path: string[], lines: LineCounter): number {
  for (let length = path.length; length > 0; length--) {
    const keys = path.slice(0, length).map((key) => (/^\d+$/.test(key) ? Number(key) : key))
    const node = document.getIn(keys, true)
    if (isNode(node) && node.range) return lines.linePos(node.range[0]).line
  }
  return 1
}

/** Returns the line of a path's last key, whose value may be on a later line. */
function lineOfKey(document: Document, path: string[], lines: LineCounter): number | undefined {
  const around = path.length > 1 ? document.getIn(path.slice(0, -1), true) : document.contents
  const key = isMap(around) ? around.items.find((pair) => String(pair.key) === path.at(-1))?.key : undefined
  return isNode(key) && key.range ? lines.linePos(key.range[0]).line : undefined
}

/**
 * Checks the nesting before parsing, because the parser does not survive it: for a block of 10,000 levels it builds a
 * regular expression that crashes the process. Brackets in strings count too; no real text has so many.
 */
function isTooDeep(text: string): boolean {
  let open = 0
  for (const character of text) {
    if (character === '[' || character === '{') open += 1
    else if (character === ']' || character === '}') open = Math.max(0, open - 1)
    if (open > DEPTH_LIMIT) return true
  }
  // Each `key: ` and `- ` of a line is a level too.
  return text
    .split('\n')
    .some(
      (line) =>
        (/^[ \t?:-]*/.exec(line)?.[0].length ?? 0) > 2 * DEPTH_LIMIT ||
        (line.match(/[?:-](?=[ \t])/g)?.length ?? 0) > 2 * DEPTH_LIMIT,
    )
}
