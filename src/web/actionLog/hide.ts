import { HIDDEN } from '../../contract/maskCommand'
import { read, type Reading } from './reading'

/** Where in a text something is hidden: from the first place to the last, the last not included. */
type Range = [from: number, to: number]

/** How much of a secret gives it away: so much of it, and no fewer characters than these. Of what is being typed less, for it may be left half-typed. */
const PART = { share: 0.75, shortest: 8 }
const TYPED_PART = { share: 0.5, shortest: 6 }
/** In characters. */
const SHORTEST_FORM = 6
/** Of a longer secret half of this is looked for at both ends. In characters. */
const LONG = 200
/** In characters, without blanks. */
const SHORTEST_VALUE = 4
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

/** By so many of their first characters texts are found that are at least as long; shorter ones by the next. */
const BEGUN = [8, 6, 4, 3]

/**
 * Finds texts of at least three characters in others, in one pass however many they are.
 *
 * `at` tells how long the longest of them is that stands at a place; 0 for none.
 */
function finderOf(needles: Iterable<string>) {
  const all = [...new Set(needles)].sort((one, other) => other.length - one.length)
  const byBeginning = BEGUN.map((begun, index) => {
    const alike = new Map<string, string[]>()
    for (const needle of all) {
      if (needle.length < begun || needle.length >= (BEGUN[index - 1] ?? Infinity)) continue
      const beginning = needle.slice(0, begun)
      const known = alike.get(beginning)
      if (known) known.push(needle)
      else alike.set(beginning, [needle])
    }
    return { begun, alike }
  }).filter(({ alike }) => alike.size > 0)

  function at(text: string, place: number): number {
    for (const { begun, alike } of byBeginning) {
      const found = alike.get(text.slice(place, place + begun))?.find((needle) => text.startsWith(needle, place))
      if (found !== undefined) return found.length
    }
    return 0
  }

  return {
    at,
    placesIn(text: string): Range[] {
      const found: Range[] = []
      if (byBeginning.length === 0) return found
      for (let place = 0; place < text.length; place++) {
        const length = at(text, place)
        if (length > 0) found.push([place, place + length])
      }
      return found
    },
  }
}

/** What is looked for in what was read of a text, so that a secret is found: each part of it that gives it away, and all of it in Base64 and in hexadecimal digits. */
function needlesOf(secret: string, { share, shortest }: typeof PART): string[] {
  const plain = plainOf(secret)
  const length = Math.min(plain.length, Math.max(shortest, Math.ceil(plain.length * share)))
  const needles: string[] = []
  if (plain.length > LONG) needles.push(plain.slice(0, LONG / 2), plain.slice(-LONG / 2))
  else for (let at = 0; at + length <= plain.length; at++) needles.push(plain.slice(at, at + length))
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

const needlesOfAll = (secrets: readonly string[], part: typeof PART) => secrets.flatMap((secret) => needlesOf(secret, part))

/**
 * @returns what hides secrets, and what gives one away, in texts, however they are written there; in what was being `typed` also its
 * first characters, where there is nothing else.
 */
export function hiderOf(secrets: readonly string[]): (text: string, typed?: boolean) => string {
  const beginnings = secrets.map(plainOf)
  const [finder, typedFinder] = [PART, TYPED_PART].map((part) => finderOf(needlesOfAll(secrets, part))) as [ReturnType<typeof finderOf>, ReturnType<typeof finderOf>]
  const readings = new Map<string, Reading>()
  const readOnce = (text: string) => {
    const known = readings.get(text) ?? read(text)
    readings.set(text, known)
    return known
  }
  return (text, typed = false) => {
    const { text: seen, starts, ends } = readOnce(text)
    if (typed && seen.length >= SHORTEST_BEGINNING && beginnings.some((secret) => secret.startsWith(seen))) return HIDDEN
    const found = (typed ? typedFinder : finder).placesIn(seen)
    return found.length > 0 ? hideRanges(text, found.map(([from, to]) => [starts[from]!, ends[to - 1]!])) : text
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
  const ranges = finderOf([...values.map(plainOf), ...needlesOfAll(secrets, TYPED_PART)].filter((needle) => needle.length >= SHORTEST_VALUE)).placesIn(all)
  const rests = finderOf(secrets.map(plainOf).filter((secret) => secret.length <= LONG).flatMap((secret) => [...secret].map((_character, at) => secret.slice(at + 1))))
  for (const [index, { text }] of readings.entries()) {
    // The beginning was hidden when the line was recorded, by the word before it.
    if (!text.endsWith(HIDDEN)) continue
    const next = starts[index]! + text.length
    const rest = rests.at(all, next)
    if (rest > 0) ranges.push([next, next + rest])
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
