import { notified } from '../facts'
import type { AppStore } from '../app/types'

/** Saves the action log. What that takes is loaded when it is asked for. */
export async function exportActionLog(store: AppStore) {
  try {
    const { exportLog } = await import(/* webpackChunkName: 'export-log' */ './exportLog')
    exportLog(store)
  } catch {
    store.dispatch(notified('danger', 'The action log could not be saved'))
  }
}
