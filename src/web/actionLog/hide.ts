import { HIDDEN } from '../../contract/maskCommand'
import { read } from './reading'

/** Where in a text something is hidden: from the first place to the last, the last not included. */
type Range = [from: number, to: number]

/** How much of a secret gives it away: so much of it, and no fewer characters than these. Of what is being typed less, for it may be left half-typed. */
const PART = { share: 0.75, shortest: 8 }
const TYPED_PART = { share: 0.5, shortest: 6 }
/** In characters. */
const SHORTEST_FORM = 6
/** What is left of a secret after its beginning was hidden, in characters. */
const SHORTEST_END = 3
/** What was typed of a secret before the rest of it, in characters. */
const SHORTEST_BEGINNING = 3

const plainOf = (text: string) => read(text).text

function hideRanges(text: string, ranges: Range[]): string {
  let shown = ''
  let end = 0
  for (const [from, to] of ranges.sort(([one], [other]) => one - other)) {
    if (from >= end) shown += text.slice(end, from) + HIDDEN
    end = Math.max(end, to)
  }
  return shown + text.slice(end)
}

function placesOf(text: string, wanted: string): Range[] {
  const found: Range[] = []
  for (let at = text.indexOf(wanted); at >= 0; at = text.indexOf(wanted, at + 1)) found.push([at, at + wanted.length])
  return found
}

/** What is looked for in what was read of a text, so that a secret is found: each part of it that gives it away, and all of it in Base64 and in hexadecimal digits. */
function needlesOf(secret: string, { share, shortest }: typeof PART): string[] {
  const plain = plainOf(secret)
  const length = Math.min(plain.length, Math.max(shortest, Math.ceil(plain.length * share)))
  const needles: string[] = []
  for (let at = 0; at + length <= plain.length && length > 0; at++) needles.push(plain.slice(at, at + length))
  const bytes = [...new TextEncoder().encode(secret)]
  const forms = [bytes.map((byte) => byte.toString(16).padStart(2, '0')).join('')]
  // It may begin at three places within a group of Base64.
  for (const before of [0, 1, 2]) {
    const group = String.fromCharCode(...new Array<number>(before).fill(0), ...bytes)
    // The characters at both ends depend on what is beside the secret.
    const inside = btoa(group).slice(Math.ceil((before * 8) / 6), Math.floor((group.length * 8) / 6))
    forms.push(plainOf(inside), plainOf(inside.replaceAll('+', '-').replaceAll('/', '_')))
  }
  return [...needles, ...forms.filter((form) => form.length >= SHORTEST_FORM)]
}

const needlesOfAll = (secrets: readonly string[], part: typeof PART) => [...new Set(secrets.flatMap((secret) => needlesOf(secret, part)))]

/**
 * @param texts every text that is to be changed: what none of them holds costs nothing more.
 * @returns what hides secrets, and what gives one away, in these texts, however they are written there; in what was being `typed` also its
 * first characters, where there is nothing else.
 */
export function hiderOf(secrets: readonly string[], texts: Iterable<string>): (text: string, typed?: boolean) => string {
  const plain = new Map<string, string>()
  for (const text of texts) if (!plain.has(text)) plain.set(text, plainOf(text))
  const all = [...plain.values()].join('\n')
  const [needles, typedNeedles] = [PART, TYPED_PART].map((part) => needlesOfAll(secrets, part).filter((needle) => all.includes(needle)))
  const beginnings = secrets.map(plainOf)
  return (text, typed = false) => {
    const seen = plain.get(text) ?? plainOf(text)
    if (typed && seen.length >= SHORTEST_BEGINNING && beginnings.some((secret) => secret.startsWith(seen))) return HIDDEN
    const found = (typed ? typedNeedles : needles)!.filter((needle) => seen.includes(needle))
    if (found.length === 0) return text
    const { starts, ends } = read(text)
    return hideRanges(text, found.flatMap((needle) => placesOf(seen, needle)).map(([from, to]) => [starts[from]!, ends[to - 1]!]))
  }
}

/**
 * Lines without secrets, also where one goes on in the next line or has colours within.
 *
 * @param values what is to be hidden as a whole. @param secrets what is to be hidden as `hiderOf` does.
 */
export function hideInLines(lines: readonly string[], values: readonly string[], secrets: readonly string[]): string[] {
  const readings = lines.map(read)
  const starts: number[] = []
  let all = ''
  for (const { text } of readings) {
    starts.push(all.length)
    all += text
  }
  const needles = new Set([...values.map(plainOf).filter((value) => value !== ''), ...needlesOfAll(secrets, TYPED_PART)])
  const ranges = [...needles].flatMap((needle) => placesOf(all, needle))
  const ends = secrets.flatMap((secret) => {
    const plain = plainOf(secret)
    return Array.from({ length: Math.max(0, plain.length - SHORTEST_END) }, (_end, at) => plain.slice(at + 1))
  })
  for (const [index, { text }] of readings.entries()) {
    // The beginning was hidden when the line was recorded, by the word before it.
    if (!text.endsWith(HIDDEN)) continue
    const next = starts[index]! + text.length
    for (const end of ends) if (all.startsWith(end, next)) ranges.push([next, next + end.length])
  }
  if (ranges.length === 0) return [...lines]
  ranges.sort(([one], [other]) => one - other)

  let first = 0
  return lines.map((line, index) => {
    const reading = readings[index]!
    const [start, end] = [starts[index]!, starts[index]! + reading.text.length]
    while (first < ranges.length && ranges[first]![1] <= start) first += 1
    const here: Range[] = []
    for (let at = first; at < ranges.length && ranges[at]![0] < end; at++) {
      const [from, to] = ranges[at]!
      if (to > start) here.push([reading.starts[Math.max(from, start) - start]!, reading.ends[Math.min(to, end) - start - 1]!])
    }
    return here.length > 0 ? hideRanges(line, here) : line
  })
}

/** A word of letters is the name of a field: with any other name no reducer would find it. */
const FIELD = /^[a-z]+$/i

/** A value with all of its texts changed, also those by which something is kept in it. */
export function changeTexts(value: unknown, change: (text: string) => string): unknown {
  if (typeof value === 'string') return change(value)
  if (Array.isArray(value)) return value.map((inner) => changeTexts(inner, change))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [FIELD.test(key) ? key : change(key), changeTexts(inner, change)]))
}
