import type { ActionLog } from '../../../contract/actionLog'
import { counted } from '../../ui/counted'
import type { Replay } from './checkLog'
import { sumOf } from './sum'

/** Returns warnings about a replay, one sentence each. The player and the command line show the same ones. */
export function findingsOf(log: ActionLog, { deviations, final }: Replay, build: string): string[] {
  const parts = [...new Set(final.map(({ path }) => path.split('.')[0]))]
  return [
    log.build !== build &&
      `Recorded with build ${log.build}; this is ${build}. What differs may be the difference between the two.`,
    log.sum !== undefined && log.sum !== sumOf(log) && 'The file was changed after it was exported.',
    deviations.length > 0 && `${counted(deviations.length, 'action')} went elsewhere than recorded.`,
    parts.length > 0 && `The final state is not as recorded: ${parts.join(', ')}.`,
  ].filter((finding) => finding !== false)
}
