import type { CreateDeployment } from '../../contract/deployment'
import { createKeyedQueue } from '../concurrency/keyedQueue'
import { AppError } from '../errors'
import { makeDeploymentDirectory } from '../share/deploymentDirectory'
import { isDuplicate } from '../state/db'
import { findDeployment, insertDeployment } from '../state/deployments/deployments'
import { MAX_DEPLOYMENTS, parseDefinition } from './definitions'
import { portRangeOf } from './portRanges'
import type { StoredDeploymentParts } from './storedDeployments'
import { newDefinition } from './templates'

/** Creates a function that creates deployments, see `Deployments.create`. */
export function createCreator(parts: StoredDeploymentParts): (request: CreateDeployment) => Promise<void> {
  const inTurn = createKeyedQueue()
  return async (request) => {
    const { name, type, node } = request
    if (type === 'persistent') await checkNode(node, parts.nodes)
    else if (node !== undefined)
      throw new AppError('INVALID_INPUT', 'node: only a persistent deployment has a node', { field: 'node' })
    await newContent(parts, request)
    const taken = () => new AppError('NAME_TAKEN', `A deployment named "${name}" already exists.`)
    if (await findDeployment(parts.db, name)) throw taken()
    // Calls may still rely on grants for a deleted deployment of the same name.
    await parts.announceRights()
    // Before the row is inserted, because a deployment cannot run without its directory. An unused directory does no
    // harm.
    await makeDeploymentDirectory(parts, `/${name}`)
    await inTurn('create', async () => {
      // Computed again, because deployments that were created concurrently count, and use ports.
      const content = await newContent(parts, request)
      await insertDeployment(parts.db, { name, type, content, enabled: false, directory_seen: `/${name}` }).catch(
        async (error: unknown) => {
          if (!isDuplicate(error)) throw error
          if (await findDeployment(parts.db, name)) throw taken()
          throw new AppError('CONFLICT', 'There is already a proxy, and a network can have only one.')
        },
      )
    })
  }
}

/**
 * The YAML of a new deployment, with a port that no other one has.
 * @throws AppError CONFLICT for too many deployments
 */
async function newContent(
  { runtime, ownPorts, readAll }: StoredDeploymentParts,
  request: CreateDeployment,
): Promise<string> {
  const all = await readAll()
  if (all.length >= MAX_DEPLOYMENTS)
    throw new AppError('CONFLICT', `The limit of ${MAX_DEPLOYMENTS} deployments is reached. Delete a deployment first.`)
  const ofOthers = all.flatMap(({ stored }) => (stored.definition && portRangeOf(stored.definition)) ?? [])
  const ofPlatform = ownPorts().map(({ port, owner }) => ({ name: owner, first: port, last: port }))
  const taken = runtime.sharesPorts ? [...ofOthers, ...ofPlatform] : []
  const content = newDefinition(request, taken)
  parseDefinition(content)
  return content
}

async function checkNode(node: string | undefined, nodes: () => Promise<string[]>): Promise<void> {
  if (node === undefined)
    throw new AppError('INVALID_INPUT', 'Please select a node for the persistent deployment', { field: 'node' })
  if (!(await nodes()).includes(node))
    throw new AppError('INVALID_INPUT', `node: there is no node named "${node}"`, { field: 'node' })
}
