import { useEffect, useLayoutEffect, useState } from 'react'
import Button from 'react-bootstrap/Button'
import { useSelector } from 'react-redux'
import { keeperOf } from '../../drafts/keepDrafts'
import { allowUnload } from '../../ui/leave/useLeaveGuard'
import { useAppStore } from '../hooks'
import { loadChunksWithRetries, selectIsBuildReplaced } from '../versionSlice'

/** Always rendered: screen readers announce changes only in a live region that already exists. */
export function NewVersion() {
  const isReplaced = useSelector(selectIsBuildReplaced)
  const [isReloading, setReloading] = useState(false)
  const store = useAppStore()

  useLayoutEffect(() => void store.dispatch(loadChunksWithRetries()), [store])

  useEffect(() => {
    // The page that the header's progress bar waits for will not load.
    if (isReplaced) delete document.documentElement.dataset.loading
  }, [isReplaced])

  const reload = async () => {
    if (isReloading) return
    setReloading(true)
    // If all drafts are stored, they are offered again after the reload, so no confirmation is needed.
    if (await keeperOf(store)?.settle()) allowUnload()
    window.location.reload()
    // Reached if the user is asked and stays.
    setReloading(false)
  }
  return (
    <div role="status" className="new-version">
      {isReplaced && (
        <div>
          <p>A new version is ready</p>
          <Button size="sm" aria-disabled={isReloading} onClick={reload}>
            Reload
          </Button>
        </div>
      )}
    </div>
  )
}
