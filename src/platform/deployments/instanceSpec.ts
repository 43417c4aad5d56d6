import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { dataOf, type Definition } from '../../contract/deployment'
import type { InstanceSpec } from '../runtime/runtime'
import { SHARED_ROOT } from '../../contract/pageRules'
import type { InstanceRow } from '../state/deployments/instances'
import { INSTANCE_VARIABLE } from './monitoring/listeningSockets'
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
 * @param sharesPorts whether instances share the ports of one machine
 * @returns MissingJar if the definition names a jar that is not there
 */
export async function specOf(
  definition: Definition,
  row: InstanceRow,
  directory: string,
  sharesPorts: boolean,
): Promise<InstanceSpec | MissingJar> {
  const { run, stop, ready, resources } = definition
  if (!run.command && !(await isFile(join(directory, run.jar ?? ''))))
    return { missingJar: `${SHARED_ROOT}${definition.dataDirectory}/${run.jar ?? ''}` }
  const slot = sharesPorts ? row.slot : 0
  const port = portOf(definition, slot)
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
      [INSTANCE_VARIABLE]: row.pod_name,
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

async function isFile(path: string): Promise<boolean> {
  return stat(path).then(
    (stats) => stats.isFile(),
    () => false,
  )
}
