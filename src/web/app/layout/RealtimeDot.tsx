import { useRealtime } from '../../sockets/RealtimeProvider'

export function RealtimeDot() {
  const { connected } = useRealtime()
  const label = connected ? 'Real-time connection: connected' : 'Real-time connection: disconnected'
  return (
    <span
      className={connected ? 'realtime-dot connected' : 'realtime-dot'}
      role="img"
      aria-label={label}
      title={label}
    />
  )
}
