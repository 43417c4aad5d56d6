import { Icon } from '../../ui/Icon'
import { useCopy } from '../../ui/useCopy'
import styles from './admin.module.scss'

type CopyActionProps = {
  text: string
  children: string
  /** Makes the accessible name of each button in a list unique. */ of: string
}

export function CopyAction({ text, children, of }: CopyActionProps) {
  const { outcome, copy } = useCopy(text)
  return (
    <button type="button" className={styles.action} aria-label={`${children} of "${of}"`} onClick={copy}>
      <Icon name={outcome === 'copied' ? 'check' : outcome === 'failed' ? 'alert' : 'copy'} />
      {children}
      <span role="status" className="visually-hidden">
        {outcome === 'copied' && 'Copied'}
        {outcome === 'failed' && 'Could not be copied'}
      </span>
    </button>
  )
}
