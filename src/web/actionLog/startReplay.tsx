import { createRoot } from 'react-dom/client'
import { showMutationsOfLog } from './replay/mutationsOfLog'
import { ReplayApp } from './ReplayApp'
import '../styles/layout.scss'

/**
 * Starts the replay instead of the console. It never reads the session, so it cannot change it: leaving the replay
 * reloads the console with the session unchanged.
 */
export function startReplay(root: HTMLElement) {
  showMutationsOfLog()
  createRoot(root).render(<ReplayApp />)
}
