import type { Definition } from '../../contract/deployment'
import { readDefinition } from '../../contract/definitionText'
import { AppError } from '../errors'

/**
 * Stored texts are read again and again, and change rarely: so many are remembered, the last used. Twice as many as there may be, so that
 * the texts of deployments, which the manager uses every few seconds, are not forgotten for texts that come and go.
 */
const REMEMBERED = 1000
/** How many deployments there may be: each call that lists them reads the texts of all. */
export const MOST_DEPLOYMENTS = 500
const known = new Map<string, Definition>()

/** Remembers the reading of a text that is stored by now. */
export function rememberDefinition(text: string, definition: Definition): void {
  known.delete(text)
  const [oldest] = known.keys()
  if (known.size >= REMEMBERED && oldest !== undefined) known.delete(oldest)
  known.set(text, definition)
}

/**
 * Reads a deployment's YAML.
 * @param fixed what was settled when it was created; such a text is only sent so far, and not remembered
 * @throws AppError INVALID_DEFINITION that names the field and the line.
 */
export function parseDefinition(text: string, fixed?: Partial<Pick<Definition, 'name' | 'type'>>): Definition {
  const before = fixed ? undefined : known.get(text)
  if (before) {
    rememberDefinition(text, before)
    return before
  }
  const result = readDefinition(text, fixed)
  if ('problem' in result) {
    const { message, ...details } = result.problem
    throw new AppError('INVALID_DEFINITION', message, details)
  }
  if (!fixed) rememberDefinition(text, result.definition)
  return result.definition
}

/**
 * As `parseDefinition`, of a text that is stored already: what an older platform took, or a hand in the database wrote,
 * may be none that can be read. One deployment's must not be everybody's.
 */
export function storedDefinition(
  text: string,
): { definition: Definition } | { definition: undefined; problem: string } {
  try {
    return { definition: parseDefinition(text) }
  } catch (error) {
    if (error instanceof AppError) return { definition: undefined, problem: error.message }
    throw error
  }
}
