import type { ReactNode } from 'react'
import type { Disk } from '../../../../contract/disk'
import { MANAGER_ALIVE_MS } from '../../../../contract/pageRules'
import type { Overview } from '../../../api/network'
import { counted } from '../../../ui/counted'
import { formatBytes } from '../../../ui/formatBytes'
import { Icon } from '../../../ui/Icon'
import { TimeAgo } from '../../../ui/time/TimeAgo'
import styles from '../overview.module.scss'

/** What concerns the whole network: the manager, the cluster and the disks. */
export function NetworkWarnings({ managerSilent, clusterSilentSince, disks = [] }: Overview) {
  return (
    <>
      {managerSilent && (
        <Warning icon="signal" title="Manager Not Responding">
          The manager has not responded for over {MANAGER_ALIVE_MS / 1000} seconds. The data shown may be out of date,
          and no instance is started or stopped until it responds again.
        </Warning>
      )}
      {clusterSilentSince !== undefined && (
        <Warning icon="signal" title="Cluster Not Responding">
          The Kubernetes cluster last answered <TimeAgo time={clusterSilentSince} />. Instances are shown as they were
          then. Running instances continue, but nothing is started or stopped until the cluster answers again.
        </Warning>
      )}
      {disks.map((disk) => (
        <DiskWarning key={disk.name} {...disk} />
      ))}
    </>
  )
}

const NAMES: Record<Disk['name'], string> = { data: 'the platform’s data directory', share: 'the shared area' }

function DiskWarning(disk: Disk) {
  const isFull = disk.level === 'full'
  return (
    <Warning icon="alert" title={isFull ? 'Disk Full' : 'Disk Almost Full'}>
      {isFull ? fullText(disk) : almostFullText(disk)}
    </Warning>
  )
}

function fullText({ name, filesLeft }: Disk): string {
  const state = filesLeft === undefined ? 'is full' : 'holds as many files as it can (its inodes are used up)'
  return `The disk of ${NAMES[name]} ${state}. Running instances continue, but nothing can be saved until there is room again.`
}

function almostFullText({ name, free, total, level, filesLeft }: Disk): string {
  const rest =
    filesLeft === undefined
      ? `${Math.floor((free / total) * 100)} % (${formatBytes(free)}) left`
      : `room for ${counted(filesLeft, 'more file')}`
  return `The disk of ${NAMES[name]} has ${rest}. ${level === 'critical' ? 'Make room now: when' : 'When'} it is full, nothing can be saved.`
}

function Warning({ icon, title, children }: { icon: 'signal' | 'alert'; title: string; children: ReactNode }) {
  return (
    <section className={`${styles.banner} panel ${styles.silent}`} role="alert">
      <Icon name={icon} size={24} />
      <div className={styles.bannerText}>
        <h2>{title}</h2>
        <p>{children}</p>
      </div>
    </section>
  )
}
