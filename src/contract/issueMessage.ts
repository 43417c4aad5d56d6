import type { z } from 'zod'

/**
 * An error map of zod, for `safeParse(value, { error: issueMessage })`. Messages complete a sentence, such as `must be
 * a number`. A schema's own messages take precedence.
 */
export const issueMessage: z.core.$ZodErrorMap = (issue) => {
  switch (issue.code) {
    case 'invalid_type':
      return issue.input === undefined ? 'is required' : `must be ${typeName(issue.expected)}`
    case 'invalid_value':
      return `must be ${alternatives(issue.values.map(String))}`
    case 'too_small':
      return `must ${sizeText(issue.inclusive === false ? 'more than' : 'at least', issue.minimum, issue.origin)}`
    case 'too_big':
      return `must ${sizeText(issue.inclusive === false ? 'less than' : 'at most', issue.maximum, issue.origin)}`
    default:
      return 'is not valid'
  }
}

const TYPE_NAMES: Partial<Record<string, string>> = {
  string: 'a text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'a list of settings',
  record: 'a list of settings',
}

function typeName(type: string): string {
  return TYPE_NAMES[type] ?? `a ${type}`
}

function alternatives(values: string[]): string {
  return values
    .map((value) => value || 'empty')
    .join(', ')
    .replace(/, ([^,]*)$/, ' or $1')
}

const UNITS: Partial<Record<string, [one: string, several: string]>> = {
  string: ['character', 'characters'],
  array: ['entry', 'entries'],
}

function sizeText(bound: string, size: number | bigint, origin: string): string {
  const unit = UNITS[origin]?.[size === 1 ? 0 : 1]
  return unit ? `have ${bound} ${size} ${unit}` : `be ${bound} ${size}`
}
