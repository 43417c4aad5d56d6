import type { ActionLog } from '../../../contract/actionLog'
import { saveText } from '../../api/saveAs'
import type { AppStore } from '../../app/store'
import { build } from '../build'
import { recorderOf } from '../record/record'
import { replayReducer } from '../replay/replayReducer'
import type { Recording } from '../replay/steps'
import { showNotification } from '../showNotification'
import { writeLog } from './writeLog'

export type LogFile = { name: string; text: string; log: ActionLog }

/**
 * Returns the log file of this page.
 * @param withOutput whether to include console output
 * @param select returns the actions to include in the file
 */
export function logFileOf(
  store: AppStore,
  withOutput: boolean,
  select = (actions: Recording['actions']): Recording['actions'] => actions,
): LogFile {
  const exportedAt = Date.now()
  const about = {
    build,
    exportedAt,
    viewport: { width: window.innerWidth, height: window.innerHeight },
    route: store.getState().route,
  }
  const recording = recorderOf(store).recording(withOutput)
  const log = writeLog({ ...recording, actions: select(recording.actions) }, about, replayReducer)
  const time = new Date(exportedAt).toISOString().slice(0, 19).replace(/[-:]/g, '').replace('T', '-')
  return { name: `quarterdeck-action-log-${time}.json`, text: JSON.stringify(log), log }
}

/** Saves the log without console output. After a sign-out it saves nothing, because another person may use the page. */
export function saveLogNow(store: AppStore) {
  if (recorderOf(store).forgetSignedOut()) saveLogFile(logFileOf(store, false))
  else showNotification(store, 'There is nothing to export since the last user signed out')
}

export function saveLogFile({ name, text }: LogFile) {
  saveText(name, text, 'application/json')
}
