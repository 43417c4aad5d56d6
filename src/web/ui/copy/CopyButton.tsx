import Button from 'react-bootstrap/Button'
import { Icon } from '../Icon'
import { useCopy } from './useCopy'

export function CopyButton({ text, label }: { text: string; label: string }) {
  const { outcome, copy } = useCopy(text)
  return (
    <Button
      variant="outline-secondary"
      size="sm"
      className="copy-button"
      onClick={copy}
      aria-label={label}
      title={label}
    >
      <Icon name={outcome === 'copied' ? 'check' : outcome === 'failed' ? 'alert' : 'copy'} size={16} />
      <span role="status" className="visually-hidden">
        {outcome === 'copied' && 'Copied'}
        {outcome === 'failed' && 'Could not be copied'}
      </span>
    </Button>
  )
}
