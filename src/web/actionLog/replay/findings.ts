import type { ActionLog } from '../../../contract/actionLog'
import { counted } from '../../ui/counted'
import type { Replay } from './checkLog'
import { checksumOf } from './checksum'

/** Returns warnings about a replay, one sentence each. The player and the command line show the same warnings. */
export function findingsOf(log: ActionLog, { deviations, final }: Replay, build: string): string[] {
  const parts = [...new Set(final.map(({ path }) => path.split('.')[0]))]
  return [
    log.build !== build &&
      `The log was recorded with build ${log.build}, but this is build ${build}. The builds may cause differences.`,
    log.sum !== undefined && log.sum !== checksumOf(log) && 'The file was changed after it was exported.',
    deviations.length > 0 && `${counted(deviations.length, 'action')} changed the state differently than recorded.`,
    parts.length > 0 && `The final state differs from the recording: ${parts.join(', ')}.`,
  ].filter((finding) => finding !== false)
}
