import { createHash } from 'node:crypto'
import { setImmediate as othersTurn } from 'node:timers/promises'
import {
  DEPLOYMENT_TYPES,
  type Configuration,
  type CreateDeployment,
  type Definition,
  type Deployment,
  type DeploymentType,
} from '../../contract/deployment'
import type { CrashCapsule, Instance } from '../../contract/instance'
import { AppError } from '../errors'
import { makeDeploymentDirectory, SHARED_ROOT } from '../share/paths'
import type { ShareParts } from '../share/shareMarker'
import { isDuplicate } from '../state/db'
import {
  findDeployment,
  insertDeployment,
  listDeployments,
  updateDeployment,
  type DeploymentRow,
} from '../state/deployments'
import { listInstances, setBlocked, setDrain, setRestartRun, setWanted, type InstanceRow } from '../state/instances'
import type { SessionUser } from '../state/sessions'
import { createDefinitionReader } from './definitionReader'
import { MOST_DEPLOYMENTS, parseDefinition, rememberDefinition, storedDefinition } from './definitions'
import { directoryOf } from './directory'
import { describeInstances, type InstanceParts } from './instances'
import { limitWarnings } from './limitWarnings'
import { portRangeOf, portWarnings, type OwnPort } from './portRanges'
import { createSharedRead } from '../share/sharedRead'
import { newDefinition } from './templates'
import { shareWaits } from './waits'

export interface DeploymentParts extends InstanceParts, ShareParts {
  nodes: () => Promise<string[]>
  /** What the platform itself listens on, on the machine of the instances. */
  ownPorts?: () => OwnPort[]
  /** Has the manager look at once. */
  wake: () => void
}

/** Every call but `list` throws AppError NOT_FOUND for a name that is not there. */
export interface Deployments {
  list(): Promise<Deployment[]>
  /** The type of the deployment whose directory this path of the wire is, or is within; null for none. */
  typeIndexAt(path: string): Promise<number | null>
  instances(name: string): Promise<Instance[]>
  /** What was kept of an instance's last end by itself. @throws AppError NOT_FOUND also where there was none */
  crash(name: string, uid: string): Promise<CrashCapsule>
  /** Disabled, with its directory and a commented YAML. @throws AppError NAME_TAKEN, CONFLICT (a second proxy, or too many deployments), INVALID_INPUT (node) */
  create(request: CreateDeployment): Promise<void>
  /** Resolves when its instances have ended and it is gone; its files stay. @param signal that nobody waits for that any more; it goes on. */
  remove(name: string, signal?: AbortSignal): Promise<void>
  /** @throws AppError INVALID_DEFINITION when it is to be enabled and its text cannot be read */
  setEnabled(name: string, enabled: boolean): Promise<void>
  /** One instance after another; resolves when all are up again. @param signal as for `remove`. @throws AppError INVALID_DEFINITION, CONFLICT when it is disabled, its directory leads out of the shared area, or one does not come up */
  restart(name: string, signal?: AbortSignal): Promise<void>
  /** The YAML as its author wrote it, with its revision, and what to warn of. */
  configuration(name: string): Promise<Required<Configuration> & { warnings?: string[] }>
  /**
   * Counts from the next start of each instance on. @returns the revision of what is stored now, and what to warn of.
   * @throws AppError INVALID_DEFINITION, TOO_MANY_TRIES where too many texts of this user wait, or CONFLICT (field `revision`) where another text than that of the revision is stored; then that stays
   */
  configure(
    by: Pick<SessionUser, 'userId'>,
    name: string,
    configuration: Configuration,
  ): Promise<{ revision: string; warnings: string[] }>
}

/** So long texts are read in one go before everything else gets a turn: after a start none is remembered. In milliseconds. */
const READ_MS = 20

/** Writes down what is wanted, and waits where the answer is about what has come about; the manager does the work. */
export function createDeployments(parts: DeploymentParts): Deployments {
  const { db, runtime, wake, ownPorts = () => [] } = parts
  const readDefinition = createDefinitionReader()

  async function find(name: string): Promise<DeploymentRow> {
    const deployment = await findDeployment(db, name)
    if (!deployment) throw new AppError('NOT_FOUND', `There is no deployment named "${name}".`)
    return deployment
  }

  /** Every deployment with the reading of its text. */
  const readAll = createSharedRead(async () => {
    const all: StoredDeployment[] = []
    let begun = performance.now()
    for (const row of await listDeployments(db)) {
      all.push({ row, stored: storedDefinition(row.content) })
      if (performance.now() - begun < READ_MS) continue
      await othersTurn()
      begun = performance.now()
    }
    return all
  })

  /** Of all deployments whose text can be read. */
  async function definitions(): Promise<Definition[]> {
    return (await readAll()).flatMap(({ stored }) => stored.definition ?? [])
  }

  async function warningsOf(definition: Definition): Promise<string[]> {
    return [...portWarnings(definition, await definitions(), ownPorts()), ...limitWarnings(definition, runtime)]
  }

  async function change(name: string, columns: Parameters<typeof updateDeployment>[2], from?: string): Promise<void> {
    if (!(await updateDeployment(db, name, columns, from))) {
      const known = await findDeployment(db, name)
      throw from !== undefined && known?.deleting === false
        ? changedMeanwhile(name)
        : new AppError('CONFLICT', `The deployment "${name}" is being deleted.`)
    }
    wake()
  }

  const whenDeleted = shareWaits(async (name) => ((await findDeployment(db, name))?.deleting ? undefined : true))

  const whenRestarted = shareWaits(async (name) => {
    const [rows, runs] = await Promise.all([listInstances(db, name), runtime.list()])
    if (!(await findDeployment(db, name))?.enabled) return rows
    const hasBegun = ({ pod_name, blocked_reason, start_after }: InstanceRow) =>
      blocked_reason !== null ||
      start_after !== null ||
      runs.some(({ podName, state }) => podName === pod_name && state !== 'EXITED')
    return rows.every((row) => row.restart_run === null && (row.wanted !== 'running' || hasBegun(row)))
      ? rows
      : undefined
  })

  return {
    async list() {
      return (await readAll()).map(describe)
    },

    async typeIndexAt(path) {
      const around = (await readAll())
        .map(describe)
        .filter((deployment) => `${path}/`.startsWith(`${deployment.path}/`))
      // Of directories within one another the inner one.
      around.sort((one, other) => other.path.length - one.path.length)
      return around[0]?.typeIndex ?? null
    },

    async instances(name) {
      return describeInstances(parts, await find(name))
    },

    async crash(name, uid) {
      await find(name)
      const row = (await listInstances(db, name)).find((candidate) => candidate.uid === uid)
      if (!row?.crash) throw new AppError('NOT_FOUND', 'There is no such instance, or it never ended by itself.')
      return row.crash
    },

    async create(request) {
      const { name, type, node } = request
      if (type === 'persistent') await checkNode(node, parts.nodes)
      else if (node !== undefined)
        throw new AppError('INVALID_INPUT', 'node: is for a persistent deployment only', { field: 'node' })
      const all = await readAll()
      if (all.length >= MOST_DEPLOYMENTS)
        throw new AppError(
          'CONFLICT',
          `There are ${MOST_DEPLOYMENTS} deployments, and there may be no more. Delete one that is not needed first.`,
        )
      const taken = all.flatMap(({ stored }) => (stored.definition && portRangeOf(stored.definition)) ?? [])
      taken.push(...ownPorts().map(({ port, owner }) => ({ name: owner, first: port, last: port })))
      const content = newDefinition(request, taken)
      parseDefinition(content)
      // First, because a row without its directory could never run. A directory that nobody uses does no harm.
      await makeDeploymentDirectory(parts, `/${name}`)
      await insertDeployment(db, { name, type, content, enabled: false, directory_seen: `/${name}` }).catch(
        async (error: unknown) => {
          if (!isDuplicate(error)) throw error
          if (await findDeployment(db, name))
            throw new AppError('NAME_TAKEN', `A deployment named "${name}" already exists.`)
          throw new AppError('CONFLICT', 'There is a proxy already, and a network has one.')
        },
      )
    },

    async remove(name, signal) {
      await find(name)
      await updateDeployment(db, name, { deleting: true, enabled: false })
      wake()
      await whenDeleted(name, signal)
    },

    async setEnabled(name, enabled) {
      const { content } = await find(name)
      if (enabled) parseDefinition(content)
      await change(name, { enabled })
    },

    async restart(name, signal) {
      const deployment = await find(name)
      if (!deployment.enabled)
        throw new AppError('CONFLICT', `The deployment "${name}" is disabled. Enable it to start it.`)
      // What could not come up again is not ended.
      await directoryOf(parts, deployment, parseDefinition(deployment.content).dataDirectory)
      const runs = await runtime.list()
      // A restart means running afterwards, also for what was stopped: a process has no Start of its own.
      const asked = (await listInstances(db, name)).filter(
        ({ wanted, drain_then }) => wanted !== 'gone' && drain_then !== 'gone',
      )
      for (const row of asked) {
        if (row.wanted === 'stopped') await setWanted(db, row.uid, 'running')
        const run = runs.find(({ podName, state }) => podName === row.pod_name && state !== 'EXITED')
        if (run && row.drain_then === 'stop') await setDrain(db, row.uid, { run: run.runId, then: 'restart' })
        if (run) await setRestartRun(db, row.uid, run.runId)
        // One that was given up, or waits after a crash, is tried again.
        else await setBlocked(db, row.uid, null)
      }
      wake()
      const rows = await whenRestarted(name, signal)
      const failed = rows.find(({ blocked_reason }) => blocked_reason !== null)
      if (failed) throw new AppError('CONFLICT', `${failed.name} did not come up again: ${failed.blocked_reason}`)
    },

    async configuration(name) {
      const { content } = await find(name)
      const { definition } = storedDefinition(content)
      const warnings = definition ? await warningsOf(definition) : []
      return { content, revision: revisionOf(content), ...(warnings.length > 0 && { warnings }) }
    },

    async configure({ userId }, name, { content, revision }) {
      const { type, content: stored, directory_seen } = await find(name)
      if (revision !== undefined && revision !== revisionOf(stored)) throw changedMeanwhile(name)
      const definition = await readDefinition(userId, content, { name, type: type as DeploymentType })
      const { dataDirectory } = definition
      // One that was there and is gone is not made anew: see directoryOf.
      if (dataDirectory !== directory_seen) await makeDeploymentDirectory(parts, dataDirectory)
      await change(name, { content, directory_seen: dataDirectory }, revision === undefined ? undefined : stored)
      rememberDefinition(content, definition)
      return { revision: revisionOf(content), warnings: await warningsOf(definition) }
    },
  }
}

const revisionOf = (content: string) => createHash('sha256').update(content).digest('hex')

const changedMeanwhile = (name: string) =>
  new AppError('CONFLICT', `The configuration of "${name}" was changed since it was opened. Nothing was saved.`, {
    field: 'revision',
  })

interface StoredDeployment {
  row: DeploymentRow
  stored: ReturnType<typeof storedDefinition>
}

/** One whose text cannot be read is listed all the same, so that it can be mended or deleted. It counts as disabled: nothing is done for it. */
function describe({ row: { name, type, enabled, deleting }, stored }: StoredDeployment): Deployment {
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

async function checkNode(node: string | undefined, nodes: () => Promise<string[]>): Promise<void> {
  if (node === undefined)
    throw new AppError('INVALID_INPUT', 'Please select a node for the persistent deployment', { field: 'node' })
  if (!(await nodes()).includes(node))
    throw new AppError('INVALID_INPUT', `node: there is no node named "${node}"`, { field: 'node' })
}
