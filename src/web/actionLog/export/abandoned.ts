import type { Recording } from '../record/recorder'
import { eachTyped, typedOf, typedPayloads, typedState } from './typedPlaces'
import type { Answers } from './typedTexts'

/**
 * Texts that were typed key by key and became something that no answer holds. All of their states are masked: the first
 * letters of a secret may be the first letters of a name.
 *
 * @param evicted typed texts of actions that the recording no longer holds, in any place. The base state holds the last.
 */
export function abandonedOf(
  { base, actions }: Pick<Recording, 'base' | 'actions'>,
  answers: Answers,
  evicted: Iterable<string>,
): Set<string> {
  const abandoned = new Set<string>()
  /** By place: the type of the action and, in a definition, the name of the setting. */
  const texts = new Map<string, string[]>([['', [...evicted]]])
  for (const { type, payload } of actions) {
    const typed = typedOf(typedPayloads, type)
    if (!typed || payload === undefined) continue
    eachTyped(payload, typed, (text, setting) => {
      const place = `${type} ${setting}`
      const states = texts.get(place)
      if (states) states.push(text)
      else texts.set(place, [text])
    })
  }
  for (const states of texts.values()) {
    const isMasked = states.map((text) => text !== '' && !answers.hold(text))
    const spread = (from: number, to: number) => {
      const [one, other] = [states[from], states[to]]
      if (isMasked[from] && one !== undefined && other && isLeftOf(one, other) && !answers.holdWhole(other))
        isMasked[to] = true
    }
    for (let at = states.length - 1; at > 0; at--) spread(at, at - 1)
    for (let at = 1; at < states.length; at++) spread(at - 1, at)
    // What was typed, deleted, and typed anew.
    const ends = endsOf(states.filter((_text, at) => isMasked[at]))
    states.forEach((text, at) => {
      if (isMasked[at] || (ends.has(text) && !answers.holdWhole(text))) abandoned.add(text)
    })
  }
  // The base state holds the state before the first of them.
  for (const [name, part] of Object.entries(base)) {
    const typed = typedOf(typedState, name)
    if (typed)
      eachTyped(part, typed, (text) => {
        if (text !== '' && !answers.holdWhole(text) && [...abandoned].some((state) => isLeftOf(state, text)))
          abandoned.add(text)
      })
  }
  return abandoned
}

/** Whether a text is a part of another one, or what is left when a part of that is deleted. */
function isLeftOf(text: string, left: string): boolean {
  if (text.includes(left)) return true
  let begun = 0
  while (begun < left.length && left[begun] === text[begun]) begun++
  return left.length < text.length && text.endsWith(left.slice(begun))
}

/** Limit of the beginnings and ends of a text, and of those of all texts together, that are looked for. */
const LONGEST_END = 100
const MOST_ENDS = 200_000

/** The beginnings and the ends of texts. Of a path, those of its last part, each with the directories before it. */
function endsOf(texts: readonly string[]): Set<string> {
  const ends = new Set<string>()
  for (const text of new Set(texts)) {
    const directory = text.startsWith('/') ? text.slice(0, text.lastIndexOf('/') + 1) : ''
    const last = text.slice(directory.length)
    for (let length = 1; length <= Math.min(last.length, LONGEST_END) && ends.size < MOST_ENDS; length++)
      ends.add(directory + last.slice(0, length)).add(directory + last.slice(-length))
  }
  return ends
}
