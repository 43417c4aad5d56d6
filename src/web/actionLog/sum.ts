import type { ActionLog } from '../../contract/actionLog'
import { hashOf } from './hash'

/** What a log says besides its states, so that a replay can tell whether that was changed. */
export const sumOf = ({ startedAt, exportedAt, viewport, route, base, actions }: ActionLog) =>
  hashOf({ startedAt, exportedAt, viewport, route, base, actions })
