import type { CreateDeployment, Deployment } from '../../contract/deployment'
import type { CrashCapsule, Instance } from '../../contract/instance'
import { createBatchedRead, createRecentRead, createSharedRead } from '../concurrency/sharedRead'
import { AppError } from '../errors'
import { listInContact } from '../runtime/contact'
import { enableDeployment, findDeployment, findDeployments, updateDeployment } from '../state/deployments/deployments'
import { findCrash, listInstances } from '../state/deployments/instances'
import { createConfigurations, type Configurations } from './configurations'
import { createCreator } from './creation'
import { parseDefinition } from './definitions'
import { describeInstances, type InstanceParts } from './instances'
import { hideDeployments } from './monitoring/portChecks'
import { createSharedPoll } from './reconcile/sharedPoll'
import { requireEnds } from './requireEnds'
import { createRestarter } from './restarts'
import {
  beingDeleted,
  changeStored,
  createStoredRead,
  describeStored,
  findStored,
  noDeployment,
  type StoredDeploymentParts,
} from './storedDeployments'

export interface DeploymentParts extends InstanceParts, Omit<StoredDeploymentParts, 'ownPorts' | 'readAll'> {
  ownPorts?: StoredDeploymentParts['ownPorts']
}

/** Methods that take the name of an existing deployment throw AppError NOT_FOUND when there is none. */
export interface Deployments extends Configurations {
  /** @param isIncluded filters by name; default: all */
  list(isIncluded?: (name: string) => boolean): Promise<Deployment[]>
  /** As `list`, each with its `instances`. @throws as `Runtime.list` */
  listWithInstances(isIncluded?: (name: string) => boolean): Promise<Deployment[]>
  /**
   * The type of the innermost deployment whose directory contains this wire path; null if there is none. Changes by
   * other replicas of the platform take effect within a second.
   */
  deploymentTypeIndexAt(path: string): Promise<number | null>
  /** @param isNamed whether a text may name another deployment; default: yes */
  instances(name: string, isNamed?: (deployment: string) => boolean): Promise<Instance[]>
  /** The crash capsule of an instance's last crash. @throws AppError NOT_FOUND also if it never crashed */
  crash(name: string, uid: string): Promise<CrashCapsule>
  /**
   * Creates a disabled deployment with its directory and a commented YAML.
   * @throws AppError NAME_TAKEN, INVALID_INPUT (node), or CONFLICT for a second proxy or too many deployments
   */
  create(request: CreateDeployment): Promise<void>
  /**
   * Resolves when all instances have ended; the files are kept. @param signal aborts the wait, not the deletion
   * @throws AppError as `requireEnds`; the deletion continues
   */
  remove(name: string, signal?: AbortSignal): Promise<void>
  /** @throws AppError CONFLICT during a deletion, INVALID_DEFINITION if an invalid text is to be enabled */
  setEnabled(name: string, enabled: boolean): Promise<void>
  /**
   * Restarts one instance after another; resolves when all run again. @param signal aborts the wait, not the restart
   * @param isNamed whether a failure may name another deployment; default: yes
   * @throws AppError INVALID_DEFINITION, or CONFLICT if the deployment is or becomes disabled, its directory leads out
   * of the shared area, or an instance does not start; as `requireEnds`, while the restart continues
   */
  restart(name: string, signal?: AbortSignal, isNamed?: (deployment: string) => boolean): Promise<void>
}

/** Maximum age of the known directories of deployments: each listing of a directory needs them. */
const DIRECTORIES_MAX_AGE_MS = 1000

/** Stores the desired state, and where a call reports a result, waits until the manager has reached it. */
export function createDeployments({ ownPorts = () => [], ...others }: DeploymentParts): Deployments {
  const { db } = others
  const readAll = createStoredRead(db)
  const directories = createRecentRead(async () => (await readAll()).map(describeStored), DIRECTORIES_MAX_AGE_MS)
  const wake = () => {
    directories.forget()
    others.wake()
  }
  const parts = { ...others, wake, ownPorts, readAll }
  const createDeployment = createCreator(parts)

  const waitUntilDeleted = createSharedPoll(async (name) => {
    if (!(await findDeployment(db, name))?.deleting) return true
    const [rows, runs] = await Promise.all([listInstances(db, [name]), listInContact(others.runtime)])
    await requireEnds(rows, runs, others.marker, 'The deletion continues afterwards.')
    return undefined
  })

  const readAllWithInstances = createSharedRead(async () => {
    const all = await readAll()
    const instances = await describeInstances(
      parts,
      all.map(({ row }) => row),
      true,
    )
    return all.map((stored) => ({ ...describeStored(stored), instances: instances.get(stored.row.name) ?? [] }))
  })

  // A console without the call for everything asks for the instances of each deployment at the same time.
  const readInstancesOf = createBatchedRead(async (names: string[]) =>
    describeInstances(parts, await findDeployments(db, names)),
  )

  return {
    async list(isIncluded = () => true) {
      return (await readAll()).filter(({ row }) => isIncluded(row.name)).map(describeStored)
    },

    async listWithInstances(isIncluded) {
      const all = await readAllWithInstances()
      if (!isIncluded) return all
      return all
        .filter(({ name }) => isIncluded(name))
        .map(({ instances, ...deployment }) => ({
          ...deployment,
          instances: instances?.map((instance) => hideOthers(instance, isIncluded)),
        }))
    },

    async deploymentTypeIndexAt(path) {
      const around = (await directories()).filter((deployment) => `${path}/`.startsWith(`${deployment.path}/`))
      // Directories can be nested: the innermost one wins.
      around.sort((a, b) => b.path.length - a.path.length)
      return around[0]?.typeIndex ?? null
    },

    async instances(name, isNamed = () => true) {
      const instances = await readInstancesOf(name)
      if (!instances) throw noDeployment(name)
      return instances.map((instance) => hideOthers(instance, isNamed))
    },

    async crash(name, uid) {
      await findStored(db, name)
      const crash = await findCrash(db, name, uid)
      if (!crash) throw new AppError('NOT_FOUND', 'This instance does not exist, or it never crashed.')
      return crash
    },

    async create(request) {
      await createDeployment(request)
      directories.forget()
    },

    async remove(name, signal) {
      await findStored(db, name)
      await listInContact(others.runtime)
      await updateDeployment(db, name, { deleting: true, enabled: false })
      wake()
      await waitUntilDeleted(name, signal)
    },

    async setEnabled(name, enabled) {
      const { content } = await findStored(db, name)
      if (!enabled) return changeStored(parts, name, { enabled })
      parseDefinition(content)
      if (!(await enableDeployment(db, name))) throw beingDeleted(name)
      wake()
    },

    restart: createRestarter(parts),

    ...createConfigurations(parts),
  }
}

/** @param isNamed whether a text may name another deployment */
function hideOthers(instance: Instance, isNamed: (deployment: string) => boolean): Instance {
  const { warnings, blockedReason } = instance
  if (!warnings && blockedReason === undefined) return instance
  return {
    ...instance,
    ...(warnings && { warnings: warnings.map((text) => hideDeployments(text, isNamed)) }),
    ...(blockedReason !== undefined && { blockedReason: hideDeployments(blockedReason, isNamed) }),
  }
}
