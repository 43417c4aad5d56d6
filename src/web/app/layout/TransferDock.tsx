import { Suspense } from 'react'
import { useSelector } from 'react-redux'
import { lazyEarly } from '../../chunks'
import type { RootState } from '../types'

const TransferPanel = lazyEarly(
  async () =>
    (await import(/* webpackChunkName: 'transfers' */ '../../features/files/uploads/TransferPanel')).TransferPanel,
)

const selectHasTransfers = ({ uploads, works }: RootState) => (uploads?.ids.length ?? 0) + (works?.length ?? 0) > 0

/** Shows the transfers of the Files page on every page. */
export function TransferDock() {
  return (
    useSelector(selectHasTransfers) && (
      <Suspense>
        <TransferPanel />
      </Suspense>
    )
  )
}
