/** How the signed-in user signs in. */
export function SecurityPage() {
  return (
    <>
      <title>Sign-in methods · Quarterdeck</title>
      <div className="page-head">
        <h1>Sign-in methods</h1>
        <p className="page-summary">You sign in with your password and a code from your authenticator app.</p>
      </div>
    </>
  )
}
