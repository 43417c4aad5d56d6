import { useEffect, useRef } from 'react'
import Button from 'react-bootstrap/Button'
import { useDispatch, useSelector } from 'react-redux'
import type { OwnMethods } from '../../../api/signIn/ownMethods'
import { useGetOpenIdConnectionQuery, useGetOwnMethodsQuery } from '../../../api/signIn/ownMethods'
import { failureDetail, isNotOffered } from '../../../failure'
import { counted } from '../../../ui/counted'
import { EmptyState } from '../../../ui/EmptyState'
import { LoadFailure } from '../../../ui/LoadFailure'
import { useFocusFallback } from '../../../ui/useFocusFallback'
import { AddAuthenticatorDialog } from './AddAuthenticatorDialog'
import { AddPasskeyDialog } from './AddPasskeyDialog'
import { ConnectDialog, DisconnectDialog } from './ConnectionDialogs'
import { ConnectionFailure } from './ConnectionFailure'
import { RemoveMethodDialog, RenameMethodDialog } from './MethodDialogs'
import { MethodList, Section } from './MethodSection'
import { RecoveryCodesDialog } from './RecoveryCodesDialog'
import { securityDialogClosed, securityDialogOpened, selectSecurityDialog } from './securitySlice'
import { usePasskeySupport } from './usePasskeySupport'
import styles from './security.module.scss'

/** How the signed-in user signs in. */
export function SecurityPage() {
  const { data, error, isFetching, refetch } = useGetOwnMethodsQuery(undefined, { refetchOnMountOrArgChange: true })
  const connection = useGetOpenIdConnectionQuery(undefined, { refetchOnMountOrArgChange: true })
  const { name: provider = '', own = false } = connection.data ?? {}
  const dialog = useSelector(selectSecurityDialog)
  const dispatch = useDispatch()
  const page = useRef<HTMLDivElement>(null)
  const close = () => dispatch(securityDialogClosed())

  useFocusFallback(page, dialog !== null)
  useEffect(() => () => void dispatch(securityDialogClosed()), [dispatch])

  return (
    <div ref={page} className={styles.page} tabIndex={-1}>
      <title>Sign-in methods · Quarterdeck</title>
      <div className="page-head">
        <h1>Sign-in methods</h1>
        <p className="page-summary">
          {own
            ? `Your account was created by ${provider}. You sign in there, and have no password here.`
            : 'You sign in with your password and one of the methods below, or with a passkey alone.'}
        </p>
      </div>
      <ConnectionFailure />
      {error && isNotOffered(error) && <EmptyState>This server offers no other sign-in methods.</EmptyState>}
      {error && !isNotOffered(error) && (
        <LoadFailure
          title="Failed to load your sign-in methods"
          detail={failureDetail(error)}
          busy={isFetching}
          onRetry={refetch}
        />
      )}
      {!data && !error && <SecuritySkeleton />}
      {data && (
        <div className={styles.sections}>
          {!own && <OwnMethodSections methods={data} />}
          {connection.data?.name !== undefined && <ConnectionSection {...connection.data} name={provider} />}
        </div>
      )}
      {dialog?.kind === 'addPasskey' && <AddPasskeyDialog onClose={close} />}
      {dialog?.kind === 'addAuthenticator' && <AddAuthenticatorDialog onClose={close} />}
      {dialog?.kind === 'createRecoveryCodes' && <RecoveryCodesDialog onClose={close} />}
      {dialog?.kind === 'connect' && <ConnectDialog name={provider} onClose={close} />}
      {dialog?.kind === 'disconnect' && <DisconnectDialog name={provider} onClose={close} />}
      {dialog?.kind === 'rename' && <RenameMethodDialog table={dialog.table} id={dialog.id} onClose={close} />}
      {dialog?.kind === 'remove' && <RemoveMethodDialog table={dialog.table} id={dialog.id} onClose={close} />}
    </div>
  )
}

function OwnMethodSections({ methods: { passkeys, authenticators, recoveryCodes } }: { methods: OwnMethods }) {
  const support = usePasskeySupport()
  const dispatch = useDispatch()
  const isLast = passkeys.length + authenticators.length === 1
  const button = (kind: 'addPasskey' | 'addAuthenticator' | 'createRecoveryCodes', text: string) => (
    <Button variant="outline-secondary" onClick={() => dispatch(securityDialogOpened({ kind }))}>
      {text}
    </Button>
  )
  return (
    <>
      <Section
        title="Passkeys"
        hint="Your fingerprint, face, PIN or security key, instead of a code or of password and code."
        action={support === 'works' && button('addPasskey', 'Add passkey')}
      >
        {support === 'no browser' && <p className={styles.note}>This browser does not support passkeys.</p>}
        {support === 'no address' && (
          <p className={styles.note}>
            Passkeys do not work at this address. They need HTTPS and a domain name; only localhost works without.
          </p>
        )}
        {passkeys.length === 0 && support === 'works' && <p className={styles.note}>You have no passkeys yet.</p>}
        {passkeys.length > 0 && <MethodList table="passkeys" methods={passkeys} isLast={isLast} />}
      </Section>
      <Section
        title="Authenticator apps"
        hint="Six-digit codes. A second app on another device still works if you lose the first."
        action={button('addAuthenticator', 'Add app')}
      >
        {authenticators.length === 0 && <p className={styles.note}>You have no authenticator app.</p>}
        {authenticators.length > 0 && <MethodList table="authenticators" methods={authenticators} isLast={isLast} />}
      </Section>
      <Section
        title="Recovery codes"
        hint="Each signs you in once instead of a code, when nothing else is at hand."
        action={button('createRecoveryCodes', recoveryCodes > 0 ? 'Create new codes' : 'Create codes')}
      >
        <p className={styles.note}>
          {recoveryCodes > 0
            ? `You have ${counted(recoveryCodes, 'code')} left.`
            : 'You have none. If you lose your other methods, only an administrator can help you.'}
        </p>
      </Section>
    </>
  )
}

function ConnectionSection({ name, connected, own }: { name: string; connected: boolean; own: boolean }) {
  const dispatch = useDispatch()
  const state = own
    ? 'Connected. It stays connected, because your account has no other way to sign in: passkeys, authenticator apps and recovery codes need a password.'
    : connected
      ? 'Connected.'
      : 'Not connected.'
  return (
    <Section
      title="Single sign-on"
      hint={`Signing in with ${name}, without a password or a code of this console.`}
      action={
        !own && (
          <Button
            variant="outline-secondary"
            onClick={() => dispatch(securityDialogOpened({ kind: connected ? 'disconnect' : 'connect' }))}
          >
            {connected ? 'Disconnect' : `Connect to ${name}`}
          </Button>
        )
      }
    >
      <p className={styles.note}>{state}</p>
    </Section>
  )
}

function SecuritySkeleton() {
  return (
    <div className={`placeholder-glow ${styles.sections}`} role="status">
      <span className="visually-hidden">Loading your sign-in methods</span>
      {[1, 2, 3].map((row) => (
        <span key={row} className={`placeholder ${styles.skeleton}`} aria-hidden="true" />
      ))}
    </div>
  )
}
