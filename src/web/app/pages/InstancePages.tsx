import { useMatch } from 'react-router-dom'
import { ConsolesPage } from '../../features/instance/consoles/ConsolesPage'
import { InstancePage } from '../../features/instance/InstancePage'

/** The pages of two routes in one chunk, because every chunk enlarges the first one, which lists them all. */
export function InstancePages() {
  return useMatch('/consoles') ? <ConsolesPage /> : <InstancePage />
}
