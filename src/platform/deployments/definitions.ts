import type { Definition } from '../../contract/deployment'
import { readDefinition } from '../../contract/definitionText'
import { AppError } from '../errors'

/** Stored texts are read again and again, and change rarely: the last so many are remembered. */
const REMEMBERED = 500
const known = new Map<string, Definition>()

/**
 * Reads a deployment's YAML.
 * @throws AppError INVALID_DEFINITION that names the field and the line.
 */
export function parseDefinition(text: string): Definition {
  const before = known.get(text)
  if (before) return before
  const result = readDefinition(text)
  if ('problem' in result) {
    const { message, ...details } = result.problem
    throw new AppError('INVALID_DEFINITION', message, details)
  }
  const [oldest] = known.keys()
  if (known.size >= REMEMBERED && oldest !== undefined) known.delete(oldest)
  known.set(text, result.definition)
  return result.definition
}
