import { Suspense } from 'react'
import { useSelector } from 'react-redux'
import { lazyEarly } from '../../chunks'
import type { RootState } from '../types'

const WrongCodesNotice = lazyEarly(
  async () =>
    (await import(/* webpackChunkName: 'wrong-codes' */ '../../features/account/WrongCodesNotice')).WrongCodesNotice,
)

/** Always rendered: screen readers announce changes only in a live region that already exists. */
export function SignInWarning() {
  const wrongCodes = useSelector(({ account }: RootState) => account?.wrongCodes)
  return (
    <div role="status">
      {wrongCodes && (
        <Suspense>
          <WrongCodesNotice {...wrongCodes} />
        </Suspense>
      )}
    </div>
  )
}
