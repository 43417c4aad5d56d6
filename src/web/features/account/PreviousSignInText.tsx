import type { PreviousSignIn } from '../../../contract/access'
import { TimeAgo } from '../../ui/time/TimeAgo'

/** The previous sign-in, as a sentence. */
export const PreviousSignInText = ({ at, address }: PreviousSignIn) => (
  <>
    Last sign-in: <TimeAgo time={Date.parse(at)} /> from {address}.
  </>
)
