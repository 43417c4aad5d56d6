import { Suspense } from 'react'
import { useSelector } from 'react-redux'
import { useGetSignInMethodsQuery } from '../../api/signInMethods'
import { lazyEarly } from '../../chunks'
import { selectForgotOpen } from './loginSlice'

// A chunk of its own: it is rarely needed, and its modal is large.
const ForgotPassword = lazyEarly(
  async () => (await import(/* webpackChunkName: 'forgot-password' */ './ForgotPassword')).ForgotPassword,
)

/** What the login page offers besides the form, loaded after the first paint: other ways to sign in. */
export function OtherWays() {
  const forgotOpen = useSelector(selectForgotOpen)
  useGetSignInMethodsQuery()
  return <Suspense>{forgotOpen && <ForgotPassword />}</Suspense>
}
