import { randomBytes, randomUUID } from 'node:crypto'
import type { InstanceRow } from '../state/instances'

/** A further instance of a deployment, before it is stored. */
export function newInstance(
  deployment: string,
  slot: number,
): Pick<InstanceRow, 'uid' | 'deployment' | 'name' | 'pod_name' | 'slot'> {
  const id = randomBytes(3).toString('hex')
  return { uid: randomUUID(), deployment, name: `${id}-${deployment}`, pod_name: `${deployment}-${id}`, slot }
}
