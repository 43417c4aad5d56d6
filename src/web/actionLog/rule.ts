import { maskCommand, maskLine } from '../../contract/secrets/maskCommand'
import { withoutSecretParameters } from '../withoutSecretParameters'
import { maskDefinition, maskValue } from './mask'

/**
 * What may stay of a value.
 *
 * - `keep`: all of it. `mask`: its shape.
 * - `line`: console output, `command`: one of the console, `definition`: a deployment's text, `address`: a path with its query; as far as
 *   they look harmless.
 * - `{ fields }`: an object; a field that is not listed is masked. `{ each }`: a list, or an object used as a map.
 * - `{ instead }`: something else, always.
 */
export type Rule = 'keep' | 'mask' | TextRule | { fields: Record<string, Rule> } | { each: Rule } | { instead: unknown }

type TextRule = 'line' | 'command' | 'definition' | 'address'
const texts: Record<TextRule, (text: string, plainCommands?: readonly string[]) => string> = {
  line: maskLine,
  command: maskCommand,
  definition: maskDefinition,
  address: withoutSecretParameters,
}

export const fields = (rules: Record<string, Rule>): Rule => ({ fields: rules })
export const each = (rule: Rule): Rule => ({ each: rule })

/**
 * @param plainCommands first words of commands that are harmless, beside those that are known.
 * @returns the value itself where nothing had to go.
 */
export function redact(value: unknown, rule: Rule, plainCommands?: readonly string[]): unknown {
  if (rule === 'keep' || value === undefined || value === null) return value
  if (rule === 'mask') return maskValue(value)
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

/** Of what lies at a path inside the value that the rule is for. */
export function ruleAt(rule: Rule, path: readonly (string | number)[]): Rule {
  const [first, ...rest] = path
  if (first === undefined || typeof rule === 'string' || 'instead' in rule) return rule
  if ('each' in rule) return ruleAt(rule.each, rest)
  return ruleAt(Object.hasOwn(rule.fields, first) ? (rule.fields[first] ?? 'mask') : 'mask', rest)
}
