import { Suspense, useLayoutEffect } from 'react'
import { lazyEarly } from '../../chunks'
import { selectPreviousSignIn, selectWrongCodes } from '../../features/account/accountSlice'
import { showWrongCodes } from '../../features/account/keptWrongCodes'
import '../../features/account/previousSignIn'
import { selectSession } from '../../features/auth/sessionSlice'
import { useAppDispatch, useAppSelector } from '../hooks'

const WrongCodesNotice = lazyEarly(
  async () =>
    (await import(/* webpackChunkName: 'sign-in-notices' */ '../../features/account/WrongCodesNotice'))
      .WrongCodesNotice,
)
const PreviousSignInNotice = lazyEarly(
  async () =>
    (await import(/* webpackChunkName: 'sign-in-notices' */ '../../features/account/PreviousSignInNotice'))
      .PreviousSignInNotice,
)

/** Always rendered: screen readers announce changes only in a live region that already exists. */
export function SignInWarning() {
  const wrongCodes = useAppSelector(selectWrongCodes)
  const previousSignIn = useAppSelector(selectPreviousSignIn)
  const session = useAppSelector(selectSession)?.id
  const dispatch = useAppDispatch()
  useLayoutEffect(() => void dispatch(showWrongCodes()), [dispatch, session])
  return (
    <div role="status">
      <Suspense>
        {wrongCodes && <WrongCodesNotice {...wrongCodes} />}
        {previousSignIn && <PreviousSignInNotice {...previousSignIn} />}
      </Suspense>
    </div>
  )
}
