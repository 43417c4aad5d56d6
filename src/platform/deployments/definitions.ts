import type { Definition } from '../../contract/deployment'
import { readDefinition } from '../../contract/definitionText'
import { AppError } from '../errors'

/**
 * Size of the LRU cache of parsed texts. It is twice the limit of deployments: the manager uses the texts of all
 * deployments every few seconds, and replaced texts must not evict them.
 */
const CACHE_SIZE = 1000
/** Limit of deployments: each call that lists them parses all of their texts. */
export const MAX_DEPLOYMENTS = 500
const cache = new Map<string, Definition>()

/** Caches the definition of a stored text. */
export function cacheDefinition(text: string, definition: Definition): void {
  cache.delete(text)
  const [oldest] = cache.keys()
  if (cache.size >= CACHE_SIZE && oldest !== undefined) cache.delete(oldest)
  cache.set(text, definition)
}

/**
 * Parses a deployment's YAML.
 * @param fixed the name and type of the existing deployment, which the text must keep. The text is not stored yet, so
 * the result is not cached.
 * @throws AppError INVALID_DEFINITION that names the field and the line
 */
export function parseDefinition(text: string, fixed?: Partial<Pick<Definition, 'name' | 'type'>>): Definition {
  const cached = fixed ? undefined : cache.get(text)
  if (cached) {
    cacheDefinition(text, cached)
    return cached
  }
  const result = readDefinition(text, fixed)
  if ('problem' in result) {
    const { message, ...details } = result.problem
    throw new AppError('INVALID_DEFINITION', message, details)
  }
  if (!fixed) cacheDefinition(text, result.definition)
  return result.definition
}

/**
 * As `parseDefinition`, but returns the problem instead of throwing: a stored text can be invalid when an older
 * platform or a manual change of the database wrote it, and one such deployment must not break the others.
 */
export function tryParseDefinition(
  text: string,
): { definition: Definition } | { definition: undefined; problem: string } {
  try {
    return { definition: parseDefinition(text) }
  } catch (error) {
    if (error instanceof AppError) return { definition: undefined, problem: error.message }
    throw error
  }
}
