import type { Recording } from '../replay/steps'
import { eachTyped, typedOf, typedPayloads, typedState } from './typedPlaces'

/** Minimum length of a name. A shorter text is more likely to be the start of a secret. */
const SHORTEST_NAME = 3

/** Looks up texts in the server's responses (typedTexts.ts). */
type Responses = { hold(text: string): boolean; holdWhole(text: string): boolean }

/**
 * Returns the texts that were typed key by key and then abandoned: no response contains their final value, or a known
 * secret starts with it because the user noticed the wrong field. All intermediate values of such a text are masked,
 * even if a name has the same first letters.
 *
 * @param evicted typed texts, from all places, of actions that were evicted from the recording. The newest text of each
 * place is in the base state.
 */
export function abandonedOf(
  { base, actions }: Pick<Recording, 'base' | 'actions'>,
  responses: Responses,
  evicted: Iterable<string>,
  beginsSecret: (text: string) => boolean,
): Set<string> {
  const abandoned = new Set<string>()
  const isName = (text: string) => text.length >= SHORTEST_NAME && responses.holdWhole(text)
  /** Typed texts by place. A place is an action type and, in a definition, the name of a setting. */
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
  const begins = (text: string) => beginsSecret(text) && !isName(text)
  for (const states of texts.values()) {
    const isMasked = states.map((text) => text !== '' && !responses.hold(text))
    for (const at of begunIn(states, begins)) isMasked[at] = true
    const spread = (from: number, to: number) => {
      const [one, other] = [states[from], states[to]]
      if (isMasked[from] && one !== undefined && other && remains(one, other) && !isName(other)) isMasked[to] = true
    }
    for (let at = states.length - 1; at > 0; at--) spread(at, at - 1)
    for (let at = 1; at < states.length; at++) spread(at - 1, at)
    // The user may have typed a masked text in several attempts, so its prefixes and suffixes are masked, too.
    const affixes = affixesOf(states.filter((_text, at) => isMasked[at]))
    states.forEach((text, at) => {
      if (isMasked[at] || (affixes.has(text) && !isName(text))) abandoned.add(text)
    })
  }
  // The base state contains the newest text of evicted actions.
  for (const [name, part] of Object.entries(base)) {
    const typed = typedOf(typedState, name)
    if (typed)
      eachTyped(part, typed, (text) => {
        if (begins(text) || (text !== '' && !isName(text) && [...abandoned].some((state) => remains(state, text))))
          abandoned.add(text)
      })
  }
  // The console trims some texts before it sends them.
  for (const text of [...abandoned]) if (!isName(text.trim())) abandoned.add(text.trim())
  return abandoned
}

/**
 * Returns the indices of texts that are a prefix of a secret and were then deleted, replaced or left. Excludes the last
 * texts of a name that is deleted key by key, which may be such prefixes, too.
 */
function begunIn(states: readonly string[], begins: (text: string) => boolean): number[] {
  const begun: number[] = []
  for (let first = 0; first < states.length; first++) {
    let next = first
    while (states[next] && begins(states[next]!)) next++
    if (next === first) continue
    const isRest = first > 0 && states[first - 1]!.startsWith(states[first]!)
    const goesOn = states[next]?.startsWith(states[next - 1]!) ?? false
    if (!goesOn && !isRest) for (let at = first; at < next; at++) begun.push(at)
    first = next
  }
  return begun
}

/** Whether `rest` is a part of `text`, or is `text` without a part from its middle. */
function remains(text: string, rest: string): boolean {
  if (text.includes(rest)) return true
  let prefix = 0
  while (prefix < rest.length && rest[prefix] === text[prefix]) prefix++
  return rest.length < text.length && text.endsWith(rest.slice(prefix))
}

/** Maximum length of a prefix or suffix, in characters. */
const MAX_AFFIX_LENGTH = 100
/** Maximum total number of prefixes and suffixes of all texts. */
const MAX_AFFIXES = 200_000

/** Returns a function that checks whether a secret starts with a text. Ignores case. */
export function beginningOf(secrets: readonly string[]): (text: string) => boolean {
  const beginnings = new Set(
    secrets.flatMap((secret) =>
      Array.from(secret.slice(0, MAX_AFFIX_LENGTH), (_letter, at) => secret.slice(0, at + 1).toLowerCase()),
    ),
  )
  return (text) => beginnings.has(text.toLowerCase())
}

/** The prefixes and suffixes of texts. For a path, those of its last segment, each after the path of its directory. */
function affixesOf(texts: readonly string[]): Set<string> {
  const affixes = new Set<string>()
  for (const text of new Set(texts)) {
    const directory = text.startsWith('/') ? text.slice(0, text.lastIndexOf('/') + 1) : ''
    const last = text.slice(directory.length)
    for (let length = 1; length <= Math.min(last.length, MAX_AFFIX_LENGTH) && affixes.size < MAX_AFFIXES; length++)
      affixes.add(directory + last.slice(0, length)).add(directory + last.slice(-length))
  }
  return affixes
}
