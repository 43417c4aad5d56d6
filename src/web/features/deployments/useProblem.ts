import { useEffect, useState } from 'react'
import type { DefinitionProblem } from '../../../contract/definitionText'

/** Of no typing. In milliseconds. */
const PAUSE_MS = 300

/**
 * What a server like ours would say to the text of this deployment, told before it is sent; its name and type are those of
 * the stored text. A hint and no more: another server may know other settings. The check comes as a chunk of its own; without it the editor works all the same.
 * Null: there is none. Undefined: nobody knows yet.
 */
export function useProblem(name: string, stored: string, text: string): DefinitionProblem | null | undefined {
  const [problem, setProblem] = useState<DefinitionProblem | null>()
  useEffect(() => {
    let outdated = false
    const check = async () => {
      const { readDefinition } = await import(/* webpackChunkName: 'definition' */ '../../../contract/definitionText')
      const before = readDefinition(stored)
      const fixed = 'definition' in before ? { name: before.definition.name, type: before.definition.type } : { name }
      const reading = readDefinition(text, fixed)
      if (!outdated) setProblem('problem' in reading ? reading.problem : null)
    }
    const timer = setTimeout(() => void check().catch(() => {}), PAUSE_MS)
    return () => {
      outdated = true
      clearTimeout(timer)
    }
  }, [name, stored, text])
  return problem
}
