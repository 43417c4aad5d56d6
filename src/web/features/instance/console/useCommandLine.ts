import { useState } from 'react'
import { useAppDispatch } from '../../../app/hooks'
import { servicesOf } from '../../../app/servicesOf'
import { draftOf, keepDraft } from './commandDrafts'

/** State of the command line: the text, and stepping through the history. */
export function useCommandLine(uid: string, commands: readonly string[]) {
  const dispatch = useAppDispatch()
  const [text, setText] = useState(() => draftOf(servicesOf(dispatch), uid))
  /** The number of steps back in the history, and the text before stepping. */
  const [walk, setWalk] = useState({ back: 0, draft: '' })

  const go = (steps: number) => {
    const back = Math.min(commands.length, Math.max(0, walk.back + steps))
    if (back === walk.back) return
    const draft = walk.back === 0 ? text : walk.draft
    setWalk({ back, draft })
    setText(back === 0 ? draft : (commands.at(-back) ?? ''))
  }
  const type = (typed: string) => {
    setWalk({ back: 0, draft: '' })
    setText(typed)
    keepDraft(servicesOf(dispatch), uid, typed)
  }
  return { text, type, older: () => go(1), newer: () => go(-1) }
}
