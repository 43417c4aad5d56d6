import { lazy, Suspense } from 'react'
import { useSelector } from 'react-redux'
import type { RootState } from './types'

const WrongCodesNotice = lazy(async () => ({
  default: (await import(/* webpackChunkName: 'wrong-codes' */ '../features/account/WrongCodesNotice')).WrongCodesNotice,
}))

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
