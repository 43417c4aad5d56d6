import { useState } from 'react'
import type { ActionLog } from '../../contract/actionLog'
import { ReplayFile } from './ReplayFile'
import { ReplayPlayer } from './ReplayPlayer'

export function ReplayApp() {
  const [log, setLog] = useState<ActionLog | null>(null)
  return log ? (
    <ReplayPlayer key={log.exportedAt} log={log} onClose={() => setLog(null)} />
  ) : (
    <ReplayFile onRead={setLog} />
  )
}
