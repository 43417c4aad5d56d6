import { Suspense, useLayoutEffect } from 'react'
import { lazyEarly } from '../../chunks'
import { selectWrongCodes } from '../../features/account/accountSlice'
import { showWrongCodes } from '../../features/account/keptWrongCodes'
import { selectSession } from '../../features/auth/sessionSlice'
import { useAppDispatch, useAppSelector } from '../hooks'

const WrongCodesNotice = lazyEarly(
  async () =>
    (await import(/* webpackChunkName: 'wrong-codes' */ '../../features/account/WrongCodesNotice')).WrongCodesNotice,
)

/** Always rendered: screen readers announce changes only in a live region that already exists. */
export function SignInWarning() {
  const wrongCodes = useAppSelector(selectWrongCodes)
  const session = useAppSelector(selectSession)?.id
  const dispatch = useAppDispatch()
  useLayoutEffect(() => void dispatch(showWrongCodes()), [dispatch, session])
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
