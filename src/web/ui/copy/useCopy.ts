import { useEffect, useState } from 'react'

/** How long the confirmation is shown. */
const CONFIRMATION_MS = 2000

/** Copies a text. `outcome` is set for a moment afterwards. */
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
      // Browsers offer no clipboard to pages that are not in a secure context. The text can still be selected.
      setOutcome('failed')
    }
  }
  return { outcome, copy }
}
