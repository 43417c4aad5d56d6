import { notified, problemLogged } from '../../facts'
import type { AppStore } from '../../app/store'

const FAILED = 'The action log could not be saved'

/**
 * Saves the action log without console output and without the dialog, because the page may be broken. Loads its code on
 * demand.
 */
export async function exportActionLog(store: AppStore) {
  try {
    const { saveLogNow } = await import(/* webpackChunkName: 'export-log' */ './exportLog')
    saveLogNow(store)
  } catch (error) {
    store.dispatch(problemLogged(FAILED, String(error)))
    store.dispatch(notified('danger', FAILED))
  }
}
