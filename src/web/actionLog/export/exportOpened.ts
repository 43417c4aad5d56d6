import { accountDialogOpened, userMenuClosed } from '../../features/account/accountSlice'

type Action = { type: string; payload?: unknown }

/**
 * Returns the index of the action that opened the dialog of an export, or -1.
 * @param index of the last action to look at
 */
export const exportOpenedAt = (actions: Action[], index: number): number =>
  actions
    .slice(0, index + 1)
    .findLastIndex(({ type, payload }) => type === accountDialogOpened.type && payload === 'export')

/**
 * Returns the actions that an export holds: up to the one that opened its dialog. The page goes on while the dialog is
 * loaded, and a replay shows the same file.
 * @param index of the last action to look at: the last one of all by default
 */
export function untilExportOpened<A extends Action>(actions: A[], index = actions.length - 1): A[] {
  const opened = exportOpenedAt(actions, index)
  if (opened < 0) return actions.slice(0, index + 1)
  // The menu is closed in the same event.
  return actions.slice(0, actions[opened + 1]?.type === userMenuClosed.type ? opened + 2 : opened + 1)
}
