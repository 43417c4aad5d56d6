import { maskCommand, maskLine, maskOutput } from '../../../contract/secrets/maskCommand'
import { withoutSecretParameters } from '../../withoutSecretParameters'
import { maskDefinition, maskValue } from './mask'

/**
 * How a value is redacted.
 *
 * - `keep` keeps the value; `mask` masks all texts and numbers and keeps only the shape.
 * - `line` (a text that may quote console output, such as a search), `command` (a console command), `definition` (the
 *   text of a deployment) and `address` (a path with its query) keep the parts that look harmless.
 * - `output` is for a console line: an object with its text and its type.
 * - `{ fields }` is for an object: `others`, usually `mask`, is the rule for fields that are not listed. `{ each }` is
 *   for the items of a list or the values of a map.
 * - `{ instead }` replaces the value by a fixed one.
 */
export type Rule =
  | 'keep'
  | 'mask'
  | 'output'
  | TextRule
  | { fields: Record<string, Rule>; others: Rule }
  | { each: Rule }
  | { instead: unknown }

type TextRule = 'line' | 'command' | 'definition' | 'address'
const texts: Record<TextRule, (text: string, plainCommands?: readonly string[]) => string> = {
  line: maskLine,
  command: maskCommand,
  definition: maskDefinition,
  address: withoutSecretParameters,
}

export const fields = (rules: Record<string, Rule>, others: Rule = 'mask'): Rule => ({ fields: rules, others })
export const each = (rule: Rule): Rule => ({ each: rule })

/**
 * Redacts a value. Returns the same reference if nothing was masked.
 *
 * @param plainCommands first words of commands that the deployment's definition declares harmless.
 */
export function redact(value: unknown, rule: Rule, plainCommands?: readonly string[]): unknown {
  if (rule === 'keep' || value === undefined || value === null) return value
  if (rule === 'mask') return maskValue(value)
  if (rule === 'output') return redactOutput(value)
  if (typeof rule === 'string') return typeof value === 'string' ? texts[rule](value, plainCommands) : maskValue(value)
  if ('instead' in rule) return rule.instead
  if (typeof value !== 'object') return maskValue(value)
  if (Array.isArray(value))
    return 'each' in rule
      ? value.map((inner) => redact(inner, rule.each, plainCommands))
      : value.map((inner) => redact(inner, 'mask'))
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [key, redact(inner, ruleAt(rule, [key]), plainCommands)]),
  )
}

const OUTPUT = fields({ seq: 'keep', type: 'keep', content: 'keep' })

function redactOutput(value: unknown): unknown {
  const line = redact(value, OUTPUT) as { type: string; content: unknown }
  return typeof line === 'object' && typeof line.content === 'string'
    ? { ...line, content: maskOutput(line as { type: string; content: string }) }
    : maskValue(value)
}

/** Returns the rule for the value at a path, inside a value with the rule `rule`. */
export function ruleAt(rule: Rule, path: readonly (string | number)[]): Rule {
  const [first, ...rest] = path
  if (first === undefined || typeof rule === 'string' || 'instead' in rule) return rule
  if ('each' in rule) return ruleAt(rule.each, rest)
  return ruleAt(Object.hasOwn(rule.fields, first) ? (rule.fields[first] ?? rule.others) : rule.others, rest)
}
