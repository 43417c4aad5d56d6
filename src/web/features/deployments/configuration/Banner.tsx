import type { ReactNode } from 'react'
import CloseButton from 'react-bootstrap/CloseButton'
import { Icon } from '../../../ui/Icon'
import styles from './configuration.module.scss'

type BannerProps = { tone: 'danger' | 'warning' | 'success'; onDismiss: () => void; children: ReactNode }

export function Banner({ tone, onDismiss, children }: BannerProps) {
  return (
    <div className={`alert alert-${tone} ${styles.banner}`} role={tone === 'danger' ? 'alert' : 'status'}>
      <Icon name={tone === 'success' ? 'check' : 'alert'} />
      <div>{children}</div>
      <CloseButton aria-label="Dismiss" onClick={onDismiss} />
    </div>
  )
}
