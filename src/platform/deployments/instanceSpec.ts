import { stat } from 'node:fs/promises'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { dataOf, type Definition } from '../../contract/deployment'
import type { InstanceSpec } from '../runtime/runtime'
import { SHARED_ROOT } from '../share/paths'
import type { InstanceRow } from '../state/instances'
import { peersFileIn } from './discovery'
import { INSTANCE_VARIABLE } from './listeningSockets'
import { portOf } from './players'
import { bytesOf, coresOf } from './quantities'

/** Said in the console, to the letter (product §4). */
export const JAR_NOT_FOUND = 'Jar file not found!'

export interface MissingJar {
  /** Where it was looked for, as the wire writes it. */
  missingJar: string
}

/**
 * What the runtime needs to run an instance of a definition.
 * @param directory the real path of its deployment's directory.
 * @param mounts those of its definition, found.
 */
export async function specOf(
  definition: Definition,
  row: InstanceRow,
  directory: string,
  mounts: NonNullable<InstanceSpec['mounts']>,
  peersDirectory?: string,
): Promise<InstanceSpec | MissingJar> {
  const { run, stop, ready, resources } = definition
  if (!run.command && !(await isFile(join(directory, run.jar ?? ''))))
    return { missingJar: `${SHARED_ROOT}${definition.dataDirectory}/${run.jar ?? ''}` }
  const port = portOf(definition, row.slot)
  return {
    podName: row.pod_name,
    deployment: definition.name,
    command: commandOf(definition, row.slot, port),
    directory,
    copy: dataOf(definition) === 'copy',
    ...(definition.keep && { keep: definition.keep }),
    mounts,
    env: {
      ...(port !== undefined && { PORT: String(port) }),
      ...run.env,
      QUARTERDECK_DEPLOYMENT: definition.name,
      [INSTANCE_VARIABLE]: row.pod_name,
      QUARTERDECK_NODE: definition.node ?? hostname(),
      ...(peersDirectory !== undefined && { QUARTERDECK_PEERS: peersFileIn(peersDirectory) }),
    },
    ...(peersDirectory !== undefined && { peersDirectory }),
    port,
    ready,
    stop: { command: stop.command, timeoutSeconds: stop.timeoutSeconds },
    limits: {
      cores: resources?.cpu === undefined ? undefined : coresOf(resources.cpu),
      memoryBytes: resources?.memory === undefined ? undefined : bytesOf(resources.memory),
    },
  }
}

/** Java by decisions §4. Further instances on one machine are told their own port, which Minecraft servers take so. */
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
