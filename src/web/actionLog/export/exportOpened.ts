import { accountDialogOpened, userMenuClosed } from '../../features/account/accountSlice'

type Action = { type: string; payload?: unknown }

/**
 * Returns the index of the action that opened the export dialog, or -1.
 * @param index of the last action to look at
 */
export const exportOpenedAt = (actions: Action[], index: number): number =>
  actions
    .slice(0, index + 1)
    .findLastIndex(({ type, payload }) => type === accountDialogOpened.type && payload === 'export')

/**
 * Returns the actions that an export contains: up to the action that opened the export dialog. Actions that the page
 * dispatches while the dialog is loaded are left out, so that the dialog shows the same file in a replay.
 * @param index of the last action to look at; by default the last of all actions
 */
export function untilExportOpened<A extends Action>(actions: A[], index = actions.length - 1): A[] {
  const opened = exportOpenedAt(actions, index)
  if (opened < 0) return actions.slice(0, index + 1)
  // The event that opens the dialog also closes the menu.
  return actions.slice(0, actions[opened + 1]?.type === userMenuClosed.type ? opened + 2 : opened + 1)
}
