import { createHash } from 'node:crypto'
import { setImmediate as yieldToEventLoop } from 'node:timers/promises'
import {
  type Configuration,
  type CreateDeployment,
  type Definition,
  type Deployment,
  type DeploymentType,
} from '../../contract/deployment'
import { DEPLOYMENT_TYPES, SHARED_ROOT } from '../../contract/pageRules'
import type { CrashCapsule, Instance } from '../../contract/instance'
import { AppError } from '../errors'
import { makeDeploymentDirectory } from '../share/deploymentDirectory'
import type { ShareLocation } from '../share/shareMarker'
import { isDuplicate } from '../state/db'
import {
  findDeployment,
  insertDeployment,
  listDeployments,
  updateDeployment,
  type DeploymentRow,
} from '../state/deployments'
import {
  listInstances,
  setBlocked,
  setDrain,
  setRestartRun,
  setDesiredState,
  type InstanceRow,
} from '../state/instances'
import type { SessionUser } from '../state/sessions'
import { createDefinitionReader } from './definitionReader'
import { MAX_DEPLOYMENTS, parseDefinition, cacheDefinition, tryParseDefinition } from './definitions'
import { openDeploymentDirectory } from './directory'
import { describeInstances, type InstanceParts } from './instances'
import { limitWarnings } from './limitWarnings'
import { portRangeOf, portWarnings, type OwnPort } from './portRanges'
import { createKeyedQueue } from '../concurrency/keyedQueue'
import { createSharedRead } from '../concurrency/sharedRead'
import { newDefinition } from './templates'
import { createSharedPoll } from './reconcile/sharedPoll'

export interface DeploymentParts extends InstanceParts, ShareLocation {
  nodes: () => Promise<string[]>
  /** The ports that the platform itself listens on, on the machine of the instances. */
  ownPorts?: () => OwnPort[]
  /** Makes the manager reconcile at once. */
  wake: () => void
}

/** Methods that take the name of an existing deployment throw AppError NOT_FOUND when there is none. */
export interface Deployments {
  list(): Promise<Deployment[]>
  /** The type of the innermost deployment whose directory contains this wire path; null if there is none. */
  deploymentTypeIndexAt(path: string): Promise<number | null>
  instances(name: string): Promise<Instance[]>
  /** The crash capsule of an instance's last crash. @throws AppError NOT_FOUND also if it never crashed */
  crash(name: string, uid: string): Promise<CrashCapsule>
  /**
   * Creates a disabled deployment with its directory and a commented YAML.
   * @throws AppError NAME_TAKEN, INVALID_INPUT (node), or CONFLICT for a second proxy or too many deployments
   */
  create(request: CreateDeployment): Promise<void>
  /** Resolves when all instances have ended; the files are kept. @param signal aborts the wait, not the deletion */
  remove(name: string, signal?: AbortSignal): Promise<void>
  /** @throws AppError CONFLICT during a deletion, INVALID_DEFINITION if an invalid text is to be enabled */
  setEnabled(name: string, enabled: boolean): Promise<void>
  /**
   * Restarts one instance after another; resolves when all run again. @param signal aborts the wait, not the restart
   * @throws AppError INVALID_DEFINITION, or CONFLICT if the deployment is disabled, its directory leads out of the
   * shared area, or an instance does not start
   */
  restart(name: string, signal?: AbortSignal): Promise<void>
  /** The YAML as its author wrote it, its revision and warnings. */
  configuration(name: string): Promise<Required<Configuration> & { warnings?: string[] }>
  /**
   * Stores a new YAML, which each instance uses from its next start on.
   * @returns the new revision and warnings
   * @throws AppError INVALID_DEFINITION, TOO_MANY_TRIES when too many texts of this user wait, or CONFLICT (field
   * `revision`) when the stored text does not match the given revision
   */
  configure(
    by: Pick<SessionUser, 'userId'>,
    name: string,
    configuration: Configuration,
  ): Promise<{ revision: string; warnings: string[] }>
}

/** Parsing yields to the event loop after this time: the cache is empty after a start. */
const PARSE_SLICE_MS = 20

/** Stores the desired state, and where a call reports a result, waits until the manager has reached it. */
export function createDeployments(parts: DeploymentParts): Deployments {
  const { db, runtime, wake, ownPorts = () => [] } = parts
  const readDefinition = createDefinitionReader()
  const inTurn = createKeyedQueue()

  async function find(name: string): Promise<DeploymentRow> {
    const deployment = await findDeployment(db, name)
    if (!deployment) throw new AppError('NOT_FOUND', `There is no deployment named "${name}".`)
    return deployment
  }

  /** Reads every deployment and parses its text. */
  const readAll = createSharedRead(async () => {
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

  /**
   * The YAML of a new deployment, with a port that no other one has.
   * @throws AppError CONFLICT for too many deployments
   */
  async function newContent(request: CreateDeployment): Promise<string> {
    const all = await readAll()
    if (all.length >= MAX_DEPLOYMENTS)
      throw new AppError(
        'CONFLICT',
        `There are ${MAX_DEPLOYMENTS} deployments, and there may be no more. Delete one that is not needed first.`,
      )
    const taken = all.flatMap(({ stored }) => (stored.definition && portRangeOf(stored.definition)) ?? [])
    taken.push(...ownPorts().map(({ port, owner }) => ({ name: owner, first: port, last: port })))
    const content = newDefinition(request, taken)
    parseDefinition(content)
    return content
  }

  /** The definitions of all deployments whose text is valid. */
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

  const waitUntilDeleted = createSharedPoll(async (name) =>
    (await findDeployment(db, name))?.deleting ? undefined : true,
  )

  const waitUntilRestarted = createSharedPoll(async (name) => {
    const [rows, runs] = await Promise.all([listInstances(db, name), runtime.list()])
    if (!(await findDeployment(db, name))?.enabled) return rows
    const hasStarted = ({ pod_name, blocked_reason, start_after }: InstanceRow) =>
      blocked_reason !== null ||
      start_after !== null ||
      runs.some(({ podName, state }) => podName === pod_name && state !== 'EXITED')
    return rows.every((row) => row.restart_run === null && (row.wanted !== 'running' || hasStarted(row)))
      ? rows
      : undefined
  })

  return {
    async list() {
      return (await readAll()).map(describe)
    },

    async deploymentTypeIndexAt(path) {
      const around = (await readAll())
        .map(describe)
        .filter((deployment) => `${path}/`.startsWith(`${deployment.path}/`))
      // Directories can be nested: the innermost one wins.
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
      await newContent(request)
      // Before the row, which could not run without its directory. An unused directory does no harm.
      await makeDeploymentDirectory(parts, `/${name}`)
      await inTurn('create', async () => {
        // Again: of deployments that are created at once each counts, and has a port of its own.
        const content = await newContent(request)
        await insertDeployment(db, { name, type, content, enabled: false, directory_seen: `/${name}` }).catch(
          async (error: unknown) => {
            if (!isDuplicate(error)) throw error
            if (await findDeployment(db, name))
              throw new AppError('NAME_TAKEN', `A deployment named "${name}" already exists.`)
            throw new AppError('CONFLICT', 'There is a proxy already, and a network has one.')
          },
        )
      })
    },

    async remove(name, signal) {
      await find(name)
      await updateDeployment(db, name, { deleting: true, enabled: false })
      wake()
      await waitUntilDeleted(name, signal)
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
      // Checked before anything stops, because an instance without its directory could not start again.
      await openDeploymentDirectory(parts, deployment, parseDefinition(deployment.content).dataDirectory)
      const runs = await runtime.list()
      // A restart also starts stopped instances: a process cannot be started on its own.
      const toRestart = (await listInstances(db, name)).filter(
        ({ wanted, drain_then }) => wanted !== 'gone' && drain_then !== 'gone',
      )
      for (const row of toRestart) {
        if (row.wanted === 'stopped') await setDesiredState(db, row.uid, 'running')
        const run = runs.find(({ podName, state }) => podName === row.pod_name && state !== 'EXITED')
        if (run && row.drain_then === 'stop') await setDrain(db, row.uid, { run: run.runId, then: 'restart' })
        if (run) await setRestartRun(db, row.uid, run.runId)
        // A blocked instance, or one that waits after a crash, gets a new attempt.
        else await setBlocked(db, row.uid, null)
      }
      wake()
      const rows = await waitUntilRestarted(name, signal)
      const failed = rows.find(({ blocked_reason }) => blocked_reason !== null)
      if (failed) throw new AppError('CONFLICT', `${failed.name} did not come up again: ${failed.blocked_reason}`)
    },

    async configuration(name) {
      const { content } = await find(name)
      const { definition } = tryParseDefinition(content)
      const warnings = definition ? await warningsOf(definition) : []
      return { content, revision: revisionOf(content), ...(warnings.length > 0 && { warnings }) }
    },

    async configure({ userId }, name, { content, revision }) {
      const { type, content: stored, directory_seen } = await find(name)
      if (revision !== undefined && revision !== revisionOf(stored)) throw changedMeanwhile(name)
      const definition = await readDefinition(userId, content, { name, type: type as DeploymentType })
      const { dataDirectory } = definition
      // A directory that existed and is missing is not created anew: see openDeploymentDirectory.
      if (dataDirectory !== directory_seen) await makeDeploymentDirectory(parts, dataDirectory)
      await change(name, { content, directory_seen: dataDirectory }, revision === undefined ? undefined : stored)
      cacheDefinition(content, definition)
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
  stored: ReturnType<typeof tryParseDefinition>
}

/** A deployment with an invalid text is listed as disabled, so that it can be corrected or deleted. */
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
