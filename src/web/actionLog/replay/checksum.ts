import type { ActionLog } from '../../../contract/actionLog'
import { hashOf } from './hash'

/**
 * Returns the checksum of the parts of a log that its state hashes do not cover, so that a replay can detect changes.
 */
export const checksumOf = ({ startedAt, exportedAt, viewport, route, base, actions }: ActionLog) =>
  hashOf({ startedAt, exportedAt, viewport, route, base, actions })
