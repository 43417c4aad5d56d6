import { notified, problemMet } from '../facts'
import type { AppStore } from '../app/types'

const FAILED = 'The action log could not be saved'

/** Saves the action log, with console output if that is asked for. What it takes is loaded then. */
export async function exportActionLog(store: AppStore, withOutput = false) {
  try {
    const { exportLog } = await import(/* webpackChunkName: 'export-log' */ './exportLog')
    exportLog(store, withOutput)
  } catch (error) {
    store.dispatch(problemMet(FAILED, String(error)))
    store.dispatch(notified('danger', FAILED))
  }
}
