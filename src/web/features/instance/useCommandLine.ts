import { useState } from 'react'

/** What is typed, and the walk through what was sent before. */
export function useCommandLine(commands: readonly string[]) {
  const [text, setText] = useState('')
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
  }
  return { text, type, older: () => go(1), newer: () => go(-1) }
}
