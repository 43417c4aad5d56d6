const steps = ['invite', 'account', 'authenticator', 'done'] as const
const titles = { invite: 'Invite code', account: 'Your account', authenticator: 'Authenticator app', done: 'Done' }

export function Steps({ current }: { current: (typeof steps)[number] }) {
  const at = steps.indexOf(current)
  return (
    <div className="steps">
      <div className="steps-track" aria-hidden="true">
        {steps.map((step, index) => (
          <span key={step} className={index <= at ? 'reached' : ''} />
        ))}
      </div>
      <h2 className="steps-title">
        <span className="steps-count">
          Step {at + 1} of {steps.length}
        </span>{' '}
        {titles[current]}
      </h2>
    </div>
  )
}
