import { useEffect, useState } from 'react'
import Button from 'react-bootstrap/Button'
import { useSelector, useStore } from 'react-redux'
import { keeperOf } from '../drafts/keepDrafts'
import { allowUnload } from '../ui/useLeaveGuard'
import type { RootState } from './types'

/** The region is always there: readers announce only what appears inside one they already know. */
export function NewVersion() {
  const isReplaced = useSelector(({ version }: RootState) => version?.isReplaced)
  const [isReloading, setReloading] = useState(false)
  const store = useStore()

  useEffect(() => {
    // The header waits for a page that does not come.
    if (isReplaced) delete document.documentElement.dataset.loading
  }, [isReplaced])

  const reload = async () => {
    if (isReloading) return
    setReloading(true)
    // Nobody needs to be asked about what is offered again after the reload.
    if (await keeperOf(store)?.settle()) allowUnload()
    window.location.reload()
    // The user may be asked, and stay.
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
