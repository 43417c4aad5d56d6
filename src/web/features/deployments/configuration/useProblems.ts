import { useEffect, useState } from 'react'
import type { DefinitionProblem } from '../../../../contract/definitionText'

/** Debounce of the check. */
const DEBOUNCE_MS = 300

/**
 * Checks the text in the browser, with the rules of our server, before it is sent. The name and type must be those of
 * the stored text. Only a hint: another server may accept other settings. The check is a chunk of its own, and the
 * editor works without it. Returns undefined if the problems are not known yet.
 */
export function useProblems(name: string, stored: string, text: string): DefinitionProblem[] | undefined {
  const [problems, setProblems] = useState<DefinitionProblem[]>()
  useEffect(() => {
    let outdated = false
    const check = async () => {
      const { readDefinition } = await import(
        /* webpackChunkName: 'definition' */ '../../../../contract/definitionText'
      )
      const before = readDefinition(stored)
      const fixed = 'definition' in before ? { name: before.definition.name, type: before.definition.type } : { name }
      const parsed = readDefinition(text, fixed)
      if (!outdated) setProblems('problem' in parsed ? [parsed.problem, ...(parsed.others ?? [])] : [])
    }
    const timer = setTimeout(() => void check().catch(() => {}), DEBOUNCE_MS)
    return () => {
      outdated = true
      clearTimeout(timer)
    }
  }, [name, stored, text])
  return problems
}
