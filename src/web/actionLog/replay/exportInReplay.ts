import type { ActionLog } from '../../../contract/actionLog'
import { accountDialogOpened, userMenuClosed } from '../../features/account/accountSlice'
import type { Recording } from './steps'

/**
 * Returns the index of the action that opened the dialog of an export, the last one up to the action at `index`, or -1.
 * The dialog shows what was recorded until it was opened.
 */
export const exportOpenedAt = ({ actions }: ActionLog, index: number) =>
  actions
    .slice(0, index + 1)
    .findLastIndex(({ type, payload }) => type === accountDialogOpened.type && payload === 'export')

/** Returns what an export held whose dialog is open at `index`. Actions that had left the log before are unknown. */
export function recordingUntil(log: ActionLog, index: number): Recording {
  const { startedAt, base, actions } = log
  const opened = exportOpenedAt(log, index)
  const last = opened < 0 ? index : opened
  // The menu closes before the dialog is rendered.
  const end = actions[last + 1]?.type === userMenuClosed.type ? last + 2 : last + 1
  return { startedAt, base, actions: actions.slice(0, end) }
}
