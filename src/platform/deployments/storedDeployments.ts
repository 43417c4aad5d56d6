import { setImmediate as yieldToEventLoop } from 'node:timers/promises'
import type { Deployment } from '../../contract/deployment'
import { DEPLOYMENT_TYPES, SHARED_ROOT } from '../../contract/pageRules'
import { createSharedRead } from '../concurrency/sharedRead'
import { AppError } from '../errors'
import type { Runtime } from '../runtime/runtime'
import type { ShareLocation } from '../share/shareMarker'
import type { Db } from '../state/db'
import {
  findDeployment,
  listDeployments,
  updateDeployment,
  type DeploymentBefore,
  type DeploymentRow,
} from '../state/deployments/deployments'
import { tryParseDefinition } from './definitions'
import type { OwnPort } from './portRanges'

/** Parsing yields to the event loop after this time: the cache is empty after a start. */
const PARSE_SLICE_MS = 20

/** Dependencies of changes of stored deployments. */
export interface StoredDeploymentParts extends ShareLocation {
  db: Db
  runtime: Runtime
  nodes: () => Promise<string[]>
  /** The ports that the platform itself listens on, on the machine of the instances. */
  ownPorts: () => OwnPort[]
  /** Makes the manager reconcile at once. */
  wake: () => void
  /** Tells every replica that users' rights have changed. Resolves when no new call relies on earlier ones. */
  announceRights: () => Promise<void>
  readAll: () => Promise<StoredDeployment[]>
}

export interface StoredDeployment {
  row: DeploymentRow
  stored: ReturnType<typeof tryParseDefinition>
}

/** Creates a function that reads every deployment and parses its text. Concurrent calls share one read. */
export function createStoredRead(db: Db): () => Promise<StoredDeployment[]> {
  return createSharedRead(async () => {
    const all: StoredDeployment[] = []
    let sliceStart = performance.now()
    for (const row of await listDeployments(db)) {
      all.push({ row, stored: tryParseDefinition(row.content) })
      if (performance.now() - sliceStart < PARSE_SLICE_MS) continue
      await yieldToEventLoop()
      sliceStart = performance.now()
    }
    return all
  })
}

/** @throws AppError NOT_FOUND */
export async function findStored(db: Db, name: string): Promise<DeploymentRow> {
  const deployment = await findDeployment(db, name)
  if (!deployment) throw noDeployment(name)
  return deployment
}

/** The error for a name that no deployment has. */
export const noDeployment = (name: string) => new AppError('NOT_FOUND', `There is no deployment named "${name}".`)

/**
 * Changes a deployment that is not being deleted, and makes the manager reconcile.
 * @param from what must still be stored
 * @throws AppError CONFLICT, with the field `revision` if something else is stored
 */
export async function changeStored(
  { db, wake }: StoredDeploymentParts,
  name: string,
  columns: Parameters<typeof updateDeployment>[2],
  from?: DeploymentBefore,
): Promise<void> {
  if (!(await updateDeployment(db, name, columns, from))) {
    const known = await findDeployment(db, name)
    throw from !== undefined && known?.deleting === false ? changedMeanwhile(name) : beingDeleted(name)
  }
  wake()
}

/** The error for a change of a deployment that is being deleted. */
export const beingDeleted = (name: string) => new AppError('CONFLICT', `The deployment "${name}" is being deleted.`)

/** The error for a text that was changed since its reader opened it. */
export const changedMeanwhile = (name: string) =>
  new AppError('CONFLICT', `The configuration of "${name}" was changed since it was opened. Nothing was saved.`, {
    field: 'revision',
  })

/** A deployment with an invalid text is listed as disabled, so that it can be corrected or deleted. */
export function describeStored({ row: { name, type, enabled, deleting }, stored }: StoredDeployment): Deployment {
  const typeIndex = DEPLOYMENT_TYPES.findIndex((known) => known === type)
  if (!stored.definition)
    return {
      name,
      typeIndex,
      enabled: false,
      path: `${SHARED_ROOT}/${name}`,
      dataDirectory: `/${name}`,
      description: `Its configuration is not valid: ${stored.problem}`,
    }
  const { dataDirectory, description } = stored.definition
  return {
    name,
    typeIndex,
    enabled: enabled && !deleting,
    path: SHARED_ROOT + dataDirectory,
    dataDirectory,
    description,
  }
}
