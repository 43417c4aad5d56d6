import { saveText } from '../api/saveAs'
import type { AppStore } from '../app/types'
import { build } from './build'
import { recorderOf } from './record'
import { replayReducer } from './replayReducer'
import { writeLog } from './writeLog'

/** Saves the log of this page as a file. */
export function exportLog(store: AppStore, withOutput: boolean) {
  const exportedAt = Date.now()
  const about = {
    build,
    exportedAt,
    viewport: { width: window.innerWidth, height: window.innerHeight },
    route: store.getState().route,
  }
  const log = writeLog(recorderOf(store).recording(withOutput), about, replayReducer)
  const time = new Date(exportedAt).toISOString().slice(0, 19).replace(/[-:]/g, '').replace('T', '-')
  saveText(`quarterdeck-action-log-${time}.json`, JSON.stringify(log), 'application/json')
}
