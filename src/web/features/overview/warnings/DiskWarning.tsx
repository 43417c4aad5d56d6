import type { Disk } from '../../../../contract/disk'
import { formatBytes } from '../../../ui/formatBytes'
import { Icon } from '../../../ui/Icon'
import styles from '../overview.module.scss'

const NAMES: Record<Disk['name'], string> = { data: 'the platform’s data directory', share: 'the shared area' }

export function DiskWarning({ name, free, total, level, filesLeft }: Disk) {
  const left =
    filesLeft !== undefined
      ? `room for ${filesLeft} more files`
      : `${Math.floor((free / total) * 100)} % (${formatBytes(free)}) left`
  return (
    <section className={`${styles.banner} panel ${styles.silent}`} role="alert">
      <Icon name="alert" size={24} />
      <div className={styles.bannerText}>
        <h2>{level === 'full' ? 'Disk Full' : 'Disk Almost Full'}</h2>
        <p>
          {level === 'full'
            ? `The disk of ${NAMES[name]} ${filesLeft !== undefined ? 'holds as many files as it can (its inodes are used up)' : 'is full'}. What runs goes on, but nothing can be saved until there is room again.`
            : `The disk of ${NAMES[name]} has ${left}. ${level === 'critical' ? 'Make room now: when' : 'When'} it is full, nothing can be saved.`}
        </p>
      </div>
    </section>
  )
}
