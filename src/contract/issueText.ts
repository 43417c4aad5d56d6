/** The part of a zod issue that the text needs. */
interface Issue {
  code: string
  message: string
  expected?: unknown
  values?: unknown
  origin?: unknown
  minimum?: unknown
  maximum?: unknown
}

/** Returns a zod issue as the end of a sentence: `must be a number`. Messages of our own schemas are unchanged. */
export function issueText({ code, message, expected, values, origin, minimum, maximum }: Issue): string {
  if (!/^(?:Invalid|Too)/.test(message)) return message
  if (message.endsWith('received undefined')) return 'is required'
  const unit = origin === 'string' ? ' characters' : origin === 'array' ? ' entries' : ''
  switch (code) {
    case 'invalid_type':
      return `must be ${nameOf(String(expected))}`
    case 'invalid_value':
      return Array.isArray(values)
        ? `must be ${values
            .map(String)
            .join(', ')
            .replace(/, ([^,]*)$/, ' or $1')}`
        : message
    case 'too_small':
      return `must ${unit ? 'have' : 'be'} at least ${String(minimum)}${unit}`
    case 'too_big':
      return `must ${unit ? 'have' : 'be'} at most ${String(maximum)}${unit}`
    default:
      return 'is not valid'
  }
}

function nameOf(type: string): string {
  const names: Record<string, string> = {
    string: 'a text',
    number: 'a number',
    int: 'a whole number',
    boolean: 'true or false',
    array: 'a list',
    object: 'a list of settings',
    record: 'a list of settings',
  }
  return names[type] ?? `a ${type}`
}
