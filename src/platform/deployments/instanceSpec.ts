import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { dataOf, type Definition } from '../../contract/deployment'
import type { InstanceSpec, Runtime } from '../runtime/runtime'
import { SHARED_ROOT } from '../../contract/pageRules'
import { AppError } from '../errors'
import { realPathThrough } from '../share/followLinks'
import type { InstanceRow } from '../state/deployments/instances'
import { portOf } from './monitoring/players'
import { bytesOf, coresOf } from './quantities'

/** Written to the console, to the letter (product §4). */
export const JAR_NOT_FOUND = 'Jar file not found!'

export interface MissingJar {
  /** The wire path at which the jar was expected. */
  missingJar: string
}

/**
 * Builds the runtime's specification of an instance.
 * @param directory the real path of its deployment's directory
 * @param runtime `sharesPorts`: whether instances share the ports of one machine; `isolation`: whether they see no more
 * files than their own
 * @returns MissingJar if the definition names a jar that is not there
 * @throws AppError CONFLICT if no port is left for the instance
 */
export async function specOf(
  definition: Definition,
  row: InstanceRow,
  directory: string,
  { sharesPorts, isolation }: Pick<Runtime, 'sharesPorts' | 'isolation'>,
): Promise<InstanceSpec | MissingJar> {
  const { run, stop, ready, resources } = definition
  if (!run.command && !(await isFile(directory, run.jar ?? '', isolation)))
    return { missingJar: `${SHARED_ROOT}${definition.dataDirectory}/${run.jar ?? ''}` }
  const slot = sharesPorts ? row.slot : 0
  const port = portOf(definition, slot)
  if (run.port !== undefined && port === undefined) throw new AppError('CONFLICT', 'Its port would be above 65535.')
  return {
    podName: row.pod_name,
    deployment: definition.name,
    image: run.image,
    node: definition.node,
    command: commandOf(definition, slot, port),
    dataDirectory: definition.dataDirectory,
    copy: dataOf(definition) === 'copy',
    ...(definition.keep && { keep: definition.keep }),
    mounts: definition.mounts ?? [],
    env: {
      ...(port !== undefined && { PORT: String(port) }),
      ...run.env,
      QUARTERDECK_DEPLOYMENT: definition.name,
      QUARTERDECK_INSTANCE: row.pod_name,
    },
    hasPeers: definition.discover !== undefined,
    port,
    ready,
    stop: { command: stop.command, timeoutSeconds: stop.timeoutSeconds },
    limits: {
      cores: resources?.cpu === undefined ? undefined : coresOf(resources.cpu),
      memoryBytes: resources?.memory === undefined ? undefined : bytesOf(resources.memory),
    },
  }
}

/** Java by decisions §4. Further instances on one machine get their own port as a Minecraft server's option. */
function commandOf({ run }: Definition, slot: number, port: number | undefined): InstanceSpec['command'] {
  if (run.command) {
    const [program = '', ...args] = run.command
    return [program, ...args]
  }
  const ownPort = slot > 0 && port !== undefined ? ['--port', String(port)] : []
  return ['java', ...(run.javaArgs ?? []), '-jar', run.jar ?? '', 'nogui', ...ownPort]
}

/**
 * Whether a deployment has a file. With isolation, a file outside of the deployment's directory does not count, as its
 * instances do not see it. Otherwise callers could ask for any file of this machine.
 */
async function isFile(directory: string, name: string, isolation: Runtime['isolation']): Promise<boolean> {
  try {
    if (isolation === 'plain') return (await stat(join(directory, name))).isFile()
    const isWithin = (path: string) => path === directory || path.startsWith(`${directory}/`)
    const path = await realPathThrough(directory, name, isWithin)
    return path !== undefined && isWithin(path) && (await stat(path)).isFile()
  } catch {
    return false
  }
}
