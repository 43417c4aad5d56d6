import Button from 'react-bootstrap/Button'
import { Icon } from '../../../ui/Icon'
import styles from './databasePanel.module.scss'

type RevealButtonProps = { what?: string; isRevealed: boolean; onReveal: () => void }

export function RevealButton({ what = 'password', isRevealed, onReveal }: RevealButtonProps) {
  return (
    <Button
      variant="outline-secondary"
      size="sm"
      className={`copy-button ${styles.revealButton}`}
      aria-label={`Show ${what}`}
      title={`${isRevealed ? 'Hide' : 'Show'} ${what}`}
      aria-pressed={isRevealed}
      onClick={onReveal}
    >
      <Icon name="eye" size={16} />
    </Button>
  )
}
