import { createRoot } from 'react-dom/client'
import { showMutationsOfLog } from './mutationsOfLog'
import { ReplayApp } from './ReplayApp'
import '../styles/layout.scss'
import './replay.scss'

/**
 * In place of the console, in a page of its own: nothing of a session is even read here, so that nothing of it can be
 * touched. Whoever leaves loads the console afresh, and finds the session as it was.
 */
export function startReplay(root: HTMLElement) {
  showMutationsOfLog()
  createRoot(root).render(<ReplayApp />)
}
