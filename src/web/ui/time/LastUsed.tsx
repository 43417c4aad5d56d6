import { TimeAgo } from './TimeAgo'

/** When a key or a sign-in method was used. */
export function LastUsed({ time }: { time: string | undefined }) {
  if (time === undefined) return 'never used'
  return (
    <>
      used <TimeAgo time={Date.parse(time)} />
    </>
  )
}
