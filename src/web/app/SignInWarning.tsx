import { Suspense } from 'react'
import { useSelector } from 'react-redux'
import { lazyEarly } from '../chunks'
import type { RootState } from './types'

const WrongCodesNotice = lazyEarly(
  async () =>
    (await import(/* webpackChunkName: 'wrong-codes' */ '../features/account/WrongCodesNotice')).WrongCodesNotice,
)

/** The region is always there: readers announce only what appears inside one they already know. */
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
