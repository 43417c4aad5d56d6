/** In place of a card that could not be drawn, such as one with an unknown state. */
export function BrokenCard({ name, message }: { name: string; message: string }) {
  return (
    <div className="instance panel blocked" role="alert">
      <span className="instance-name">{name}</span>
      <span className="state blocked">{message}</span>
    </div>
  )
}
