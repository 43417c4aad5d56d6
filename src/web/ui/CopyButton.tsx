import { useEffect, useState } from 'react'
import Button from 'react-bootstrap/Button'
import { Icon } from './Icon'

/** How long the confirmation shows. In milliseconds. */
const CONFIRMATION_MS = 2000

export function CopyButton({ text, label }: { text: string; label: string }) {
  const [outcome, setOutcome] = useState<'copied' | 'failed'>()

  useEffect(() => {
    if (!outcome) return
    const timer = setTimeout(() => setOutcome(undefined), CONFIRMATION_MS)
    return () => clearTimeout(timer)
  }, [outcome])

  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text)
      setOutcome('copied')
    } catch {
      // Browsers offer no clipboard to pages that are not served securely; the text can still be selected.
      setOutcome('failed')
    }
  }

  return (
    <Button variant="outline-secondary" size="sm" className="copy-button" onClick={copy} aria-label={label}>
      <Icon name={outcome === 'copied' ? 'check' : outcome === 'failed' ? 'alert' : 'copy'} size={16} />
      <span role="status" className="visually-hidden">
        {outcome === 'copied' && 'Copied'}
        {outcome === 'failed' && 'Could not be copied'}
      </span>
    </Button>
  )
}
