import { useState } from 'react'
import { useStore } from 'react-redux'
import { draftOf, keepDraft } from './commandDrafts'

/** What is typed, and the walk through what was sent before. */
export function useCommandLine(uid: string, commands: readonly string[]) {
  const store = useStore()
  const [text, setText] = useState(() => draftOf(store, uid))
  /** How many commands back, and what was typed before. */
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
    keepDraft(store, uid, typed)
  }
  return { text, type, older: () => go(1), newer: () => go(-1) }
}
