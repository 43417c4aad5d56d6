import { notified, problemLogged } from '../../facts'
import type { AppStore } from '../../app/store'

const FAILED = 'The action log could not be saved'

/**
 * Saves the action log without console output. Shows no dialog, because the page may have crashed. Loads the code of
 * the export on demand.
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
