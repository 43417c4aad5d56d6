import type { Definition } from '../../contract/deployment'
import { readDefinition } from '../../contract/definitionText'
import { AppError } from '../errors'

/** Stored texts are read again and again, and change rarely: the last so many are remembered. */
const REMEMBERED = 500
const known = new Map<string, Definition>()

/**
 * Reads a deployment's YAML.
 * @param fixed what was settled when it was created
 * @throws AppError INVALID_DEFINITION that names the field and the line.
 */
export function parseDefinition(text: string, fixed?: Partial<Pick<Definition, 'name' | 'type'>>): Definition {
  const before = fixed ? undefined : known.get(text)
  if (before) return before
  const result = readDefinition(text, fixed)
  if ('problem' in result) {
    const { message, ...details } = result.problem
    throw new AppError('INVALID_DEFINITION', message, details)
  }
  const [oldest] = known.keys()
  if (known.size >= REMEMBERED && oldest !== undefined) known.delete(oldest)
  known.set(text, result.definition)
  return result.definition
}

/**
 * As `parseDefinition`, of a text that is stored already: what an older platform took, or a hand in the database wrote,
 * may be none that can be read. One deployment's must not be everybody's.
 */
export function storedDefinition(text: string): { definition: Definition } | { definition: undefined; problem: string } {
  try {
    return { definition: parseDefinition(text) }
  } catch (error) {
    if (error instanceof AppError) return { definition: undefined, problem: error.message }
    throw error
  }
}
