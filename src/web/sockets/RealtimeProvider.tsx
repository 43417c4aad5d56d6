import type { ReactNode } from 'react'
import { createContext, useContext, useMemo } from 'react'
import { useDispatch, useSelector } from 'react-redux'
import type { RealtimeMessage } from './realtimeSlice'
import { selectConnected, sendRequested } from './realtimeSlice'

type Realtime = {
  connected: boolean
  /** @returns false if the message could not be sent */
  send(message: RealtimeMessage): boolean
}

const RealtimeContext = createContext<Realtime | null>(null)

export function RealtimeProvider({ children }: { children: ReactNode }) {
  const dispatch = useDispatch()
  const connected = useSelector(selectConnected)
  const realtime = useMemo(
    () => ({
      connected,
      // The middleware returns a boolean (realtimeSocket.ts), which the type of dispatch cannot express.
      send: (message: RealtimeMessage) => dispatch(sendRequested(message)) as unknown as boolean,
    }),
    [connected, dispatch],
  )
  return <RealtimeContext value={realtime}>{children}</RealtimeContext>
}

export function useRealtime(): Realtime {
  const realtime = useContext(RealtimeContext)
  if (!realtime) throw new Error('useRealtime must be used inside a RealtimeProvider')
  return realtime
}
