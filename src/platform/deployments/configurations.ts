import { createHash } from 'node:crypto'
import type { Configuration, Definition, DeploymentType } from '../../contract/deployment'
import { makeDeploymentDirectory } from '../share/deploymentDirectory'
import { isRestricted, knownTo, type Caller } from '../caller'
import { createDefinitionReader } from './definitionReader'
import { cacheDefinition, tryParseDefinition } from './definitions'
import { directoryWarnings, keepWarnings } from './directoryWarnings'
import { limitWarnings } from './limitWarnings'
import { refuseOperatorSettings } from './operatorSettings'
import { portWarnings } from './portRanges'
import { changedMeanwhile, changeStored, findStored, type StoredDeploymentParts } from './storedDeployments'

/** Methods that take the name of an existing deployment throw AppError NOT_FOUND when there is none. */
export interface Configurations {
  /**
   * The YAML as its author wrote it, its revision and warnings. Warnings name no deployment that the caller must not
   * know of.
   */
  configuration(by: Caller, name: string): Promise<Required<Configuration> & { warnings?: string[] }>
  /**
   * Stores a new YAML, which each instance uses from its next start on.
   * @param present reads the caller with their present rights, because the text may wait behind texts of others
   * @returns the new revision and warnings
   * @throws AppError NOT_ALLOWED (`refuseOperatorSettings`), INVALID_DEFINITION, TOO_MANY_TRIES when too many texts of
   * this user wait, or CONFLICT (field `revision`) when the stored text does not match the given revision, or was
   * changed while the text of a limited user was parsed
   */
  configure(
    present: () => Promise<Caller>,
    name: string,
    configuration: Configuration,
  ): Promise<{ revision: string; warnings: string[] }>
}

/** Reads and stores the texts of deployments. */
export function createConfigurations(parts: StoredDeploymentParts): Configurations {
  const { db, runtime, ownPorts, readAll } = parts
  const readDefinition = createDefinitionReader()

  async function warningsOf(definition: Definition, by: Caller): Promise<string[]> {
    const others = (await readAll()).flatMap(({ stored }) => stored.definition ?? [])
    const ofPorts = runtime.sharesPorts ? portWarnings(definition, others, ownPorts(), knownTo(by)) : []
    return [
      ...ofPorts,
      ...directoryWarnings(definition, others, knownTo(by)),
      ...(await keepWarnings(parts, definition)),
      ...limitWarnings(definition, runtime),
    ]
  }

  return {
    async configuration(by, name) {
      const { content } = await findStored(db, name)
      const { definition } = tryParseDefinition(content)
      const warnings = definition ? await warningsOf(definition, by) : []
      return { content, revision: revisionOf(content), ...(warnings.length > 0 && { warnings }) }
    },

    async configure(present, name, { content, revision }) {
      const { userId } = await present()
      const { type, content: stored, directory_seen } = await findStored(db, name)
      if (revision !== undefined && revision !== revisionOf(stored)) throw changedMeanwhile(name)
      const definition = await readDefinition(userId, content, { name, type: type as DeploymentType })
      const by = await present()
      if (isRestricted(by)) refuseOperatorSettings(tryParseDefinition(stored).definition, definition)
      const { dataDirectory } = definition
      // A directory that existed and is missing is not created again: see requireDeploymentDirectory.
      if (dataDirectory !== directory_seen) await makeDeploymentDirectory(parts, dataDirectory)
      await changeStored(
        parts,
        name,
        {
          content,
          ...(dataDirectory !== directory_seen && { directory_seen: dataDirectory, directory_mounted: false }),
        },
        // Another deployment may have the name by now. For a restricted caller, the text that the operators' settings
        // were compared with must still be stored.
        { type, content: revision !== undefined || isRestricted(by) ? stored : undefined },
      )
      cacheDefinition(content, definition)
      return { revision: revisionOf(content), warnings: await warningsOf(definition, by) }
    },
  }
}

const revisionOf = (content: string) => createHash('sha256').update(content).digest('hex')
