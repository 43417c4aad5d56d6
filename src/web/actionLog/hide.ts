import { HIDDEN } from '../../contract/secrets/maskCommand'
import { withoutEscapes } from '../../contract/secrets/secretCommands'
import { plainOf, read } from './reading'

/** Where in a text something is hidden: from the first place to the last, the last not included. */
type Range = [from: number, to: number]

/** How much of a secret gives it away: so much of it, and no fewer characters than these. Of what is being typed less, for it may be left half-typed. */
const PART = { share: 0.75, shortest: 8 }
const TYPED_PART = { share: 0.5, shortest: 6 }
/** In characters. */
const SHORTEST_FORM = 6
/** Of a longer secret each part of half of this length is looked for. In characters. */
const LONG = 200
/** In characters, without blanks. */
const SHORTEST_VALUE = 4
/** The text with those places hidden that were found in what is read of it. */
function hideFound(text: string, found: readonly Range[]): string {
  if (found.length === 0) return text
  const { starts, ends } = read(text)
  return hideRanges(
    text,
    found.map(([from, to]) => [starts[from]!, ends[to - 1]!]),
  )
}

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

/** Length of a table of hashes; a power of 2. */
const TABLE = 2 ** 20

/** Hash of some characters of a text, below TABLE. */
function hashAt(text: string, place: number, size: number): number {
  let hash = 0
  for (let at = place; at < place + size; at++) hash = (Math.imul(hash, 31) + text.charCodeAt(at)) | 0
  return hash & (TABLE - 1)
}

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

  // For most places of a text this tells that no needle begins there.
  const tables = [
    { size: 6, begun: all.filter((needle) => needle.length >= 6) },
    { size: 3, begun: all.filter((needle) => needle.length < 6) },
  ]
    .filter(({ begun }) => begun.length > 0)
    .map(({ size, begun }) => {
      const isBegun = new Uint8Array(TABLE)
      for (const needle of begun) isBegun[hashAt(needle, 0, size)] = 1
      return { size, isBegun }
    })

  function at(text: string, place: number): number {
    if (!tables.some(({ size, isBegun }) => isBegun[hashAt(text, place, size)])) return 0
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

/** What is looked for in what was read of a text, so that a secret is found: each part of it that gives it away, and all of it reversed, in Base64, and as the numbers of its bytes. */
function needlesOf(secret: string, { share, shortest }: typeof PART): string[] {
  const plain = plainOf(secret)
  const length = Math.min(plain.length, LONG / 2, Math.max(shortest, Math.ceil(plain.length * share)))
  const needles: string[] = []
  for (let at = 0; at + length <= plain.length; at++) needles.push(plain.slice(at, at + length))
  const bytes = [...new TextEncoder().encode(secret)]
  const digits = bytes.map((byte) => byte.toString(16).padStart(2, '0'))
  const forms = [digits.join(''), digits.join(':'), bytes.join(','), [...plain].reverse().join('')]
  // It may begin at three places within a group of Base64.
  for (const before of [0, 1, 2]) {
    const group = String.fromCharCode(...new Array<number>(before).fill(0), ...bytes)
    // The characters at both ends depend on what is beside the secret.
    const inside = btoa(group).slice(Math.ceil((before * 8) / 6), Math.floor((group.length * 8) / 6))
    forms.push(plainOf(inside), plainOf(inside.replaceAll('+', '-').replaceAll('/', '_')))
  }
  return [...needles, ...forms.filter((form) => form.length >= SHORTEST_FORM)]
}

const needlesOfAll = (secrets: readonly string[], part: typeof PART) =>
  secrets.flatMap((secret) => needlesOf(secret, part))

/** @returns a function that hides the secrets, and each part that gives one away, in a text, however they are written there. */
export function hiderOf(secrets: readonly string[]): (text: string) => string {
  const finder = finderOf(needlesOfAll(secrets, PART))
  const shown = new Map<string, string>()
  return (text) => {
    const known = shown.get(text)
    if (known !== undefined) return known
    const left = hideFound(text, finder.placesIn(plainOf(text)))
    shown.set(text, left)
    return left
  }
}

/**
 * Lines without secrets, also where one goes on in the next line or has colours within.
 *
 * @param values what is to be hidden as a whole. @param secrets what is to be hidden as `hiderOf` does.
 */
export function hideInLines(lines: readonly string[], values: readonly string[], secrets: readonly string[]): string[] {
  const texts = lines.map(plainOf)
  const finder = finderOf(
    [...values.map(plainOf), ...needlesOfAll(secrets, TYPED_PART)].filter((needle) => needle.length >= SHORTEST_VALUE),
  )
  const rests = finderOf(
    secrets
      .map(plainOf)
      .filter((secret) => secret.length <= LONG)
      .flatMap((secret) => [...secret].map((_character, at) => secret.slice(at + 1))),
  )
  const found = lines.map((): Range[] => [])

  /** @param skipped of each line, how much of what was read of it is left out. */
  function look(skipped: readonly number[]) {
    const starts: number[] = []
    let all = ''
    for (const [index, text] of texts.entries()) {
      starts.push(all.length)
      all += text.slice(skipped[index])
    }
    starts.push(all.length)
    const ranges = finder.placesIn(all)
    for (const [index, text] of texts.entries()) {
      // The beginning was hidden when the line was recorded, by the word before it.
      if (!text.endsWith(HIDDEN)) continue
      const next = starts[index + 1]!
      const rest = rests.at(all, next)
      if (rest > 0) ranges.push([next, next + rest])
    }
    ranges.sort(([one], [other]) => one - other)
    let first = 0
    for (const [index, here] of found.entries()) {
      const [start, end] = [starts[index]!, starts[index + 1]!]
      const moved = skipped[index]! - start
      while (first < ranges.length && ranges[first]![1] <= start) first += 1
      for (let at = first; at < ranges.length && ranges[at]![0] < end; at++) {
        const [from, to] = ranges[at]!
        if (to > start) here.push([Math.max(from, start) + moved, Math.min(to, end) + moved])
      }
    }
  }

  look(lines.map(() => 0))
  for (const stamps of [lines.map(stampOf), commonBeginnings(texts)])
    if (stamps.some((length) => length > 0)) look(stamps)
  return lines.map((line, index) => hideFound(line, found[index]!))
}

/** In characters. */
const LONGEST_BEGINNING = 200
const LETTER = /[\p{L}\p{N}]/u

/** Of each text how much of its beginning a text beside it has as well, whatever the digits, up to a sign: a logger writes it, however it looks. */
function commonBeginnings(texts: readonly string[]): number[] {
  const shapes = texts.map((text) => text.slice(0, LONGEST_BEGINNING).replace(/\d/g, '0'))
  const common = (one: string, other = '') => {
    let length = 0
    while (length < one.length && one[length] === other[length]) length++
    while (length > 0 && LETTER.test(one[length - 1]!)) length--
    return length
  }
  return shapes.map((shape, index) => Math.max(common(shape, shapes[index - 1]), common(shape, shapes[index + 1])))
}

/** What loggers write before each line: a time, a level, names in brackets, a sign. */
const STAMP =
  /^(?:\s{0,20}(?:\[[^\]]{1,60}\]|\(?\d{1,4}[-:/.]\d[\d:.,/TZ+-]{0,40}\)?|(?:trace|debug|info|notice|warn(?:ing)?|error|fatal|severe)\b|[|>:*#-]))+/i

/** How much of what is read of a line is its stamp. */
function stampOf(line: string): number {
  const stamp = STAMP.exec(withoutEscapes(line))?.[0]
  return stamp === undefined ? 0 : plainOf(stamp).length
}

/** A word of letters is the name of a field: with any other name no reducer would find it. */
const FIELD = /^[a-z]+$/i
/** Fields that hold an object by names: of players, of deployments, and of tags of the cache by their type. */
const BY_NAME = new Set(['players', 'drafts'])
const BY_TYPE = 'tags'

/**
 * A value with all of its texts changed, also those by which something is kept in it.
 *
 * @param change gets a text with the name of its field: of a list that of the list, of a key `key`.
 */
export function changeTexts(
  value: unknown,
  change: (text: string, field: string) => string,
  field = '',
  parent = '',
): unknown {
  if (typeof value === 'string') return change(value, field)
  if (Array.isArray(value)) return value.map((inner) => changeTexts(inner, change, field, parent))
  if (typeof value !== 'object' || value === null) return value
  const isByName = BY_NAME.has(field) || parent === BY_TYPE
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [
      FIELD.test(key) && !isByName ? key : change(key, 'key'),
      changeTexts(inner, change, key, field),
    ]),
  )
}
