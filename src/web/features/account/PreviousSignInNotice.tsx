import { useEffect, useState } from 'react'
import Button from 'react-bootstrap/Button'
import CloseButton from 'react-bootstrap/CloseButton'
import { useDispatch } from 'react-redux'
import { useLocation } from 'react-router-dom'
import type { PreviousSignIn } from '../../../contract/access'
import { accountDialogOpened, previousSignInDismissed } from './accountSlice'
import { PreviousSignInText } from './PreviousSignInText'
import styles from './previousSignIn.module.scss'

/** Shown until the user dismisses it or opens another page. */
export function PreviousSignInNotice(previous: PreviousSignIn) {
  const dispatch = useDispatch()
  const { pathname } = useLocation()
  const [shownOn] = useState(pathname)
  useEffect(() => {
    if (pathname !== shownOn) dispatch(previousSignInDismissed())
  }, [dispatch, pathname, shownOn])
  return (
    <section className={styles.previousSignIn} aria-label="Last sign-in">
      <p>
        <PreviousSignInText {...previous} />
      </p>
      <Button variant="link" size="sm" onClick={() => dispatch(accountDialogOpened('sessions'))}>
        Your sessions
      </Button>
      <CloseButton aria-label="Dismiss" onClick={() => dispatch(previousSignInDismissed())} />
    </section>
  )
}
