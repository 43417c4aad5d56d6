import type { Recording } from '../record/recorder'
import { eachTyped, typedOf, typedPayloads, typedState } from './typedPlaces'
import type { Answers } from './typedTexts'

/**
 * Texts that were typed key by key and became something that no answer holds. All of their states are masked: the first
 * letters of a secret may be the first letters of a name.
 */
export function abandonedOf({ base, actions }: Pick<Recording, 'base' | 'actions'>, answers: Answers): Set<string> {
  const abandoned = new Set<string>()
  /** By place: the type of the action and, in a definition, the name of the setting. */
  const texts = new Map<string, string[]>()
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
      if (isMasked[from] && one !== undefined && other && one.includes(other) && !answers.holdWhole(other))
        isMasked[to] = true
    }
    for (let at = states.length - 1; at > 0; at--) spread(at, at - 1)
    for (let at = 1; at < states.length; at++) spread(at - 1, at)
    states.forEach((text, at) => isMasked[at] && abandoned.add(text))
  }
  // The base state holds the state before the first of them.
  for (const [name, part] of Object.entries(base)) {
    const typed = typedOf(typedState, name)
    if (typed)
      eachTyped(part, typed, (text) => {
        if (text !== '' && !answers.holdWhole(text) && [...abandoned].some((state) => state.startsWith(text)))
          abandoned.add(text)
      })
  }
  return abandoned
}
