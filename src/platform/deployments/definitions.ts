import type { Definition } from '../../contract/deployment'
import { readDefinition } from '../../contract/definitionText'
import { AppError } from '../errors'

/**
 * Reads a deployment's YAML.
 * @throws AppError INVALID_DEFINITION that names the field and the line.
 */
export function parseDefinition(text: string): Definition {
  const result = readDefinition(text)
  if ('definition' in result) return result.definition
  const { message, ...details } = result.problem
  throw new AppError('INVALID_DEFINITION', message, details)
}
