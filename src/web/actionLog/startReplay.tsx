import { createRoot } from 'react-dom/client'
import { showMutationsOfLog } from './replay/mutationsOfLog'
import { ReplayApp } from './ReplayApp'
import '../styles/layout.scss'

/**
 * Renders the replay player instead of the console. The player neither reads nor changes the session: leaving the
 * replay reloads the console with the same session.
 */
export function startReplay(root: HTMLElement) {
  showMutationsOfLog()
  createRoot(root).render(<ReplayApp />)
}
