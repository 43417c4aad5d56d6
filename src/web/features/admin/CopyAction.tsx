import { ActionIcon } from '../../ui/ActionIcon'
import { Icon } from '../../ui/Icon'
import { useCopy } from '../../ui/copy/useCopy'
import styles from './admin.module.scss'

type CopyActionProps = {
  text: string
  what: 'code' | 'link'
  /** Makes the accessible name of each button in a list unique. */
  of: string
}

export function CopyAction({ text, what, of }: CopyActionProps) {
  const { outcome, copy } = useCopy(text)
  return (
    <button
      type="button"
      className={styles.iconAction}
      title={`Copy ${what}`}
      aria-label={`Copy ${what} of "${of}"`}
      onClick={copy}
    >
      {outcome ? (
        <Icon name={outcome === 'copied' ? 'check' : 'alert'} />
      ) : what === 'link' ? (
        <ActionIcon name="link" />
      ) : (
        <Icon name="copy" />
      )}
      <span role="status" className="visually-hidden">
        {outcome === 'copied' && 'Copied'}
        {outcome === 'failed' && 'Could not be copied'}
      </span>
    </button>
  )
}
