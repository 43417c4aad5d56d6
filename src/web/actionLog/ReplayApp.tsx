import { useState } from 'react'
import type { PlayedLog } from './ReplayFile'
import { ReplayFile } from './ReplayFile'
import { ReplayPlayer } from './ReplayPlayer'

export function ReplayApp() {
  const [played, setPlayed] = useState<PlayedLog | null>(null)
  return played ? (
    <ReplayPlayer key={played.log.exportedAt} {...played} onClose={() => setPlayed(null)} />
  ) : (
    <ReplayFile onRead={setPlayed} />
  )
}
