import { MANAGER_ALIVE_MS } from '../../../../contract/pageRules'
import { Icon } from '../../../ui/Icon'
import styles from '../overview.module.scss'

export function ManagerSilent() {
  return (
    <section className={`${styles.banner} panel ${styles.silent}`} role="alert">
      <Icon name="signal" size={24} />
      <div className={styles.bannerText}>
        <h2>Manager Not Responding</h2>
        <p>
          It has given no sign of life for over {MANAGER_ALIVE_MS / 1000} seconds. What you see may be out of date, and
          nothing is started or stopped until it is back.
        </p>
      </div>
    </section>
  )
}
