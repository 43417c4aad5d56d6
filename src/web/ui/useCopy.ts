import { useEffect, useState } from 'react'

/** How long the confirmation shows. In milliseconds. */
const CONFIRMATION_MS = 2000

/** Copies a text, and says for a while how that went. */
export function useCopy(text: string) {
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
  return { outcome, copy }
}
