import type { PreviousSignIn } from '../../../contract/access'

const exact = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' })

/** The previous sign-in, as a sentence. */
export function PreviousSignInText({ at, address }: PreviousSignIn) {
  const time = Date.parse(at)
  return (
    <>
      Last sign-in: {Number.isFinite(time) ? <time dateTime={at}>{exact.format(time)}</time> : 'time unknown'} from{' '}
      {address}.
    </>
  )
}
