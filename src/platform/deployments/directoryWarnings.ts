import type { Definition } from '../../contract/deployment'
import { AppError } from '../errors'
import type { ShareLocation } from '../share/shareMarker'
import { requireKeptDirectories } from './hostPaths'

type DefinedDirectory = Pick<Definition, 'name' | 'dataDirectory'>

/**
 * Warns of a directory that is that of another deployment, or lies within it: each instance can change everything in
 * its directory.
 * @param isNamed whether a deployment may be named in the warning
 */
export function directoryWarnings(
  { name, dataDirectory }: DefinedDirectory,
  others: DefinedDirectory[],
  isNamed: (deployment: string) => boolean,
): string[] {
  const isWithin = (path: string, outer: string) => path.startsWith(`${outer}/`)
  const ownerOf = (other: string) => (isNamed(other) ? `the deployment "${other}"` : 'another deployment')
  return others
    .filter((other) => other.name !== name)
    .flatMap((other) => {
      if (dataDirectory === other.dataDirectory)
        return [
          `dataDirectory: ${dataDirectory} is also the directory of ${ownerOf(other.name)}: the instances of both use its files.`,
        ]
      if (isWithin(dataDirectory, other.dataDirectory))
        return [
          `dataDirectory: ${dataDirectory} lies in the directory of ${ownerOf(other.name)}, whose instances can read and change its files.`,
        ]
      if (isWithin(other.dataDirectory, dataDirectory))
        return [
          `dataDirectory: ${dataDirectory} holds the directory of ${ownerOf(other.name)}, whose files the instances of this one can read and change.`,
        ]
      return []
    })
}

/** Warns of what `requireKeptDirectories` refuses; of nothing while the shared area is not available. */
export async function keepWarnings(location: ShareLocation, definition: Definition): Promise<string[]> {
  try {
    await requireKeptDirectories(location, definition)
    return []
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    return error.code === 'UNAVAILABLE' ? [] : [`keep: ${error.message}`]
  }
}
