import { Icon } from '../../../ui/Icon'
import { TimeAgo } from '../../../ui/time/TimeAgo'
import styles from '../overview.module.scss'

/** `since` is the time of the cluster's last answer, in milliseconds since the epoch. */
export function ClusterSilent({ since }: { since: number }) {
  return (
    <section className={`${styles.banner} panel ${styles.silent}`} role="alert">
      <Icon name="signal" size={24} />
      <div className={styles.bannerText}>
        <h2>Cluster Not Responding</h2>
        <p>
          The Kubernetes cluster last answered <TimeAgo time={since} />. Instances are shown as they were then. Those
          that run go on, but nothing is started or stopped until the cluster answers again.
        </p>
      </div>
    </section>
  )
}
