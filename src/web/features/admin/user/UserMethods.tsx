import type { ReactNode } from 'react'
import type { SignInMethod } from '../../../../contract/signIn/signInMethods'
import { useGetUserMethodsQuery, type UserMethods as Methods } from '../../../api/users'
import { counted } from '../../../ui/counted'
import { LastUsed } from '../../../ui/time/LastUsed'
import { TimeAgo } from '../../../ui/time/TimeAgo'
import { Section } from './Section'
import adminStyles from '../admin.module.scss'
import styles from './user.module.scss'

/** How a user signs in. Only the user can change it; an administrator can set a password. */
export function UserMethods({ id }: { id: number }) {
  const query = useGetUserMethodsQuery(id, { refetchOnMountOrArgChange: true })
  return (
    <Section title="Sign-in methods" query={query} what="the sign-in methods">
      {query.data && (
        <ul className={`panel ${adminStyles.list} ${adminStyles.panelList}`}>
          <MethodRows methods={query.data} />
        </ul>
      )}
    </Section>
  )
}

function MethodRows({ methods }: { methods: Methods }) {
  const { authenticators, passkeys, recoveryCodes, hasPassword, singleSignOn } = methods
  return (
    <>
      {singleSignOn && (
        <Row name="Single sign-on">{hasPassword ? 'connected' : 'created this account, which has no password'}</Row>
      )}
      {hasPassword && <Row name="Password">together with one of the other methods</Row>}
      {passkeys.map((method) => (
        <Row key={method.id} name={method.name}>
          passkey · <Trace method={method} />
        </Row>
      ))}
      {authenticators.map((method) => (
        <Row key={method.id} name={method.name}>
          six-digit codes · <Trace method={method} />
        </Row>
      ))}
      {hasPassword && (
        <Row name="Recovery codes">{recoveryCodes > 0 ? `${counted(recoveryCodes, 'code')} left` : 'none left'}</Row>
      )}
    </>
  )
}

function Row({ name, children }: { name: string; children: ReactNode }) {
  return (
    <li className={`${adminStyles.row} ${styles.row}`} aria-label={name}>
      <div>
        <p className={styles.name}>{name}</p>
        <p className={styles.trace}>{children}</p>
      </div>
    </li>
  )
}

function Trace({ method: { created_at, last_used_at } }: { method: SignInMethod }) {
  return (
    <>
      added <TimeAgo time={Date.parse(created_at)} /> · <LastUsed time={last_used_at} />
    </>
  )
}
