import CloseButton from 'react-bootstrap/CloseButton'
import { useDispatch } from 'react-redux'
import type { WrongCodes } from '../../../contract/signIn/auth'
import { counted } from '../../ui/counted'
import { Icon } from '../../ui/Icon'
import { accountDialogOpened, wrongCodesDismissed } from './accountSlice'
import styles from './wrongCodes.module.scss'

const exact = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' })

export function WrongCodesNotice({ count, since }: WrongCodes) {
  const dispatch = useDispatch()
  return (
    <section className={`${styles.wrongCodes} panel`} aria-label="Wrong codes">
      <Icon name="alert" size={24} />
      <h2>
        {counted(count, 'wrong code')} since {exact.format(since)}
      </h2>
      <p>These sign-in attempts had your correct password. If they were not yours, change your password now.</p>
      <button
        type="button"
        className="btn btn-outline-secondary"
        onClick={() => dispatch(accountDialogOpened('password'))}
      >
        Change password
      </button>
      <CloseButton aria-label="Dismiss" onClick={() => dispatch(wrongCodesDismissed())} />
    </section>
  )
}
