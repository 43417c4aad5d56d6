import { HIDDEN, maskLine } from '../../../contract/secrets/maskCommand'
import { changeHiddenTexts } from '../../../contract/secrets/secretCommands'
import { encodedIn, encodedInLines, isOfSigns, signsIn } from './encoded'
import { commonEnds, stampOf } from './loggers'
import { normalizedText, normalize, normalizeSplit, type Normalized } from './normalize'

// Read once, because jest makes each access to a global slow.
const { imul } = Math
const { fromCharCode } = String

/** A hidden range of a text. `to` is exclusive. */
type Range = [from: number, to: number]

/**
 * A part of a secret is hidden too if it has at least this share of the secret's length, or `longest` characters, but
 * no fewer than `shortest`. In output the limits are smaller, because programs shorten texts and print them in columns.
 */
const PART = { share: 0.75, shortest: 8, longest: 100 }
const PRINTED_PART = { share: 0.5, shortest: 6, longest: 8 }
/**
 * For texts typed in commands: only long parts are hidden in output, because most words of such texts are ordinary, and
 * parts of `numbered` characters if they contain a digit.
 */
const SPOKEN_PART = { share: 0.5, shortest: 6, longest: 100, numbered: 8 }
/** For values in output: only the whole value is hidden. */
const WHOLE = { share: 1, shortest: 0, longest: Infinity }
/** Minimum length of a part, without the characters that the search ignores. */
const LEAST = 5
/** Minimum length of an encoded form. */
const SHORTEST_FORM = 6
/** Maximum length of a secret whose rest is searched for after a masked line. */
const LONG = 200
/** Minimum length of a value, without spaces. */
const SHORTEST_VALUE = 4

/** Hides ranges of the normalized text in the original text. */
function hideFound(
  text: string,
  found: readonly Range[],
  normalized?: Normalized,
  rest: readonly Range[] = [],
): string {
  if (found.length === 0 && rest.length === 0) return text
  const { starts, ends } = normalized ?? normalize(text)
  return hideRanges(text, [...rest, ...found.map(([from, to]): Range => [startOf(text, starts[from]!), ends[to - 1]!])])
}

/** Moves the start of a found secret before preceding `+` characters, which the normalized text lacks. */
function startOf(text: string, start: number): number {
  while (text[start - 1] === '+') start -= 1
  return start
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

/** Prefix lengths by which needles are indexed. A needle is indexed by the largest length that it has. */
const BEGUN = [8, 6, 4, 3]

/** Length of a table of hashes; a power of 2. */
const TABLE = 2 ** 20

/** Hash of `size` characters of a text, below TABLE. */
function hashAt(text: string, place: number, size: number): number {
  let hash = 0
  for (let at = place; at < place + size; at++) hash = (imul(hash, 31) + text.charCodeAt(at)) | 0
  return hash & (TABLE - 1)
}

/** How many characters before and after a needle are hidden with it. */
type Margins = Map<string, [before: number, after: number]>

/**
 * Finds any number of texts (needles) of at least three characters in one pass.
 *
 * `at` returns the length of the longest needle at a position, or 0.
 */
function finderOf(needles: Iterable<string>, margins: Margins = new Map()) {
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

  // A fast check, because no needle starts at most positions.
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
        if (length === 0) continue
        const [before, after] = margins.get(text.slice(place, place + length)) ?? [0, 0]
        found.push([Math.max(0, place - before), Math.min(text.length, place + length + after)])
      }
      return found
    },
  }
}

/** Returns all parts of a text that have this length. */
function partsOf(text: string, length: number): string[] {
  const parts: string[] = []
  for (let at = 0; at + length <= text.length; at++) parts.push(text.slice(at, at + length))
  return parts
}

/**
 * Returns the needles of a secret in a normalized text: each part that must be hidden, and the whole secret reversed
 * and as numbers of its bytes.
 */
function needlesOf(secret: string, { share, shortest, longest, numbered }: Part): string[] {
  const plain = normalizedText(secret)
  // Of a secret with many signs that the search ignores, fewer characters are left.
  const least = Math.max(LEAST, Math.ceil((shortest * plain.length) / secret.length))
  const lengthOf = ({ length }: string) =>
    Math.min(length, longest, Math.max(Math.min(shortest, least), Math.ceil(length * share)))
  // Printed letter by letter, what looks encoded in the secret is not decoded.
  const apart = /[%&\\]/.test(secret) ? normalizedText([...secret].join('\u200b')) : plain
  const bytes = [...new TextEncoder().encode(secret)]
  const digits = bytes.map((byte) => byte.toString(16).padStart(2, '0'))
  const forms = [
    ...['', ':', '0x'].map((between) => digits.join(between)),
    // The normalized text lacks spaces, dashes and commas.
    ...['', ';'].map((between) => bytes.join(between)),
    [...new Int8Array(bytes)].join('').replaceAll('-', ''),
    bytes.map((byte, at) => `${at}:${byte}`).join(''),
    [...plain].reverse().join(''),
    normalizedText([...secret].reverse().join('')),
    // The format of PostgreSQL for bytes. Normalization decodes the first byte as a character.
    normalizedText(`\\x${digits.join('')}`),
    // The unmasked start of a secret that contains a keyword, which causes the rest of the line to be masked.
    ...(share < 1 ? [normalizedText(maskLine(secret))] : []),
  ]
  return [...new Set([plain, apart])]
    .flatMap((text) => partsOf(text, lengthOf(text)))
    .concat(numbered === undefined ? [] : partsOf(plain, numbered).filter((part) => /\d/.test(part)))
    .concat(forms.filter((form) => form.length >= SHORTEST_FORM))
}

/**
 * Returns the needles of a secret in Base64, with their margins: the characters at both ends depend on the text around
 * the secret, but also encode some bits of the secret.
 */
function base64Of(secret: string): Margins {
  const bytes = Array.from(new TextEncoder().encode(secret), (byte) => fromCharCode(byte)).join('')
  const needles: Margins = new Map()
  // A secret may start at any of three positions inside a Base64 group.
  for (const before of [0, 1, 2]) {
    const group = '\0'.repeat(before) + bytes
    const inside = btoa(group).slice(Math.ceil((before * 8) / 6), Math.floor((group.length * 8) / 6))
    const margins: [number, number] = [before === 0 ? 0 : 1, group.length % 3 === 0 ? 0 : 1]
    for (const form of [inside, inside.replaceAll('+', '-').replaceAll('/', '_')].map(normalizedText))
      if (form.length >= SHORTEST_FORM) needles.set(form, margins)
  }
  return needles
}

type Finder = ReturnType<typeof finderOf>

/** Returns whether a decoded text contains a secret. A shorter needle may occur there by chance. */
const holdsIn = (finder: Finder, signs: readonly string[]) => (text: string) =>
  signsIn(text, signs).length > 0 ||
  finder.placesIn(normalizedText(text)).some(([from, to]) => to - from >= SHORTEST_FORM)

/** @param signs secrets that the normalized text lacks */
const hideIn = (text: string, finder: Finder, signs: readonly string[]) =>
  hideFound(text, finder.placesIn(normalizedText(text)), undefined, [
    ...signsIn(text, signs),
    ...encodedIn(text, holdsIn(finder, signs)),
  ])

/** A letter after `§` may be a colour code, which the normalized text lacks, or the first letter of a secret. */
function hideAfterSign(text: string, finder: Finder): string {
  if (!text.includes('§')) return text
  const normalized = normalize(text.replaceAll('§', '\u200b'))
  return hideFound(text, finder.placesIn(normalized.text), normalized)
}

type Part = typeof PART & { numbered?: number }

/** @param shortest minimum length of a needle */
function finderOfAll(found: readonly { texts: readonly string[]; part: Part }[], shortest = 0): Finder {
  const margins: Margins = new Map(found.flatMap(({ texts }) => texts.flatMap((text) => [...base64Of(text)])))
  const needles = found.flatMap(({ texts, part }) => texts.flatMap((text) => needlesOf(text, part)))
  return finderOf(
    [...needles, ...margins.keys()].filter((needle) => needle.length >= shortest),
    margins,
  )
}

/** Returns a function that hides the secrets and parts of them in a text, in any of their encodings. */
export function hiderOf(secrets: readonly string[]): (text: string) => string {
  const finder = finderOfAll([{ texts: secrets, part: PART }])
  const shown = new Map<string, string>()
  const signs = secrets.filter(isOfSigns)
  const hideAll = (text: string) => hideAfterSign(hideIn(text, finder, signs), finder)
  return (text) => {
    const known = shown.get(text)
    if (known !== undefined) return known
    const left = hideAll(changeHiddenTexts(text, hideAll))
    shown.set(text, left)
    return left
  }
}

/**
 * Hides values in lines of output, even if they continue on the next line or contain colour codes.
 *
 * @param values only whole values are hidden.
 * @param secrets parts are hidden too, and may be shorter than in `hiderOf`.
 * @param spoken typed texts of commands, whose long parts are hidden too.
 */
export function hideInLines(
  said: readonly string[],
  values: readonly string[],
  secrets: readonly string[],
  spoken: readonly string[] = [],
): string[] {
  const sought = [
    { texts: secrets, part: PRINTED_PART },
    { texts: spoken, part: SPOKEN_PART },
    { texts: values, part: WHOLE },
  ]
  const finder = finderOfAll(sought, SHORTEST_VALUE)
  const signs = [...secrets, ...spoken].filter(isOfSigns)
  const lines = said.map((line) => changeHiddenTexts(line, (text) => hideIn(text, finder, signs)))
  const split = normalizeSplit(lines)
  const texts = lines.map((line, index) => split.get(index)?.text ?? normalizedText(line))
  const rests = finderOf(
    [...secrets, ...spoken]
      .map(normalizedText)
      .filter((secret) => secret.length <= LONG)
      .flatMap((secret) => [...secret].map((_character, at) => secret.slice(at + 1))),
  )
  const found = lines.map((): Range[] => [])

  /** @param skipped, dropped number of characters to skip at the start and at the end of each normalized line. */
  function look(skipped: readonly number[], dropped: readonly number[] = []) {
    const starts: number[] = []
    let all = ''
    for (const [index, text] of texts.entries()) {
      starts.push(all.length)
      all += text.slice(skipped[index], text.length - (dropped[index] ?? 0))
    }
    starts.push(all.length)
    const ranges = finder.placesIn(all)
    for (const [index, text] of texts.entries()) {
      // The recorder masked the start of the value, because a keyword precedes it.
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
        if (to > start && end > start) here.push([Math.max(from, start) + moved, Math.min(to, end) + moved])
      }
    }
  }

  look(lines.map(() => 0))
  const { beginnings, endings } = commonEnds(lines)
  for (const stamps of [lines.map(stampOf), beginnings]) if (stamps.some(Boolean)) look(stamps)
  if (endings.some(Boolean)) look(beginnings, endings)
  const encoded = encodedInLines(lines, holdsIn(finder, signs))
  const restOf = (rest: Normalized['rest']): Range[] =>
    rest && found[rest.line]!.some(([, to]) => to === texts[rest.line]!.length) ? [[0, rest.end]] : []
  return lines.map((line, index) => {
    const normalized = split.get(index)
    return hideAfterSign(
      hideFound(line, found[index]!, normalized, [
        ...signsIn(line, signs),
        ...encoded[index]!,
        ...restOf(normalized?.rest),
      ]),
      finder,
    )
  })
}

/** A key of letters only is a field name, which the reducers need. */
const FIELD = /^[a-z]+$/i
/** Fields that contain a map whose keys are names. `tags` contains such maps by type. */
const BY_NAME = new Set(['players', 'drafts'])
const BY_TYPE = 'tags'
/** Fields with a number from the address of a page: the argument of a call, and the tag of its response. */
const NUMBERED = /^(?:originalArgs|id)$/
/** Only a number of six digits or more may be a secret. */
const LONG_NUMBER = 100_000

/**
 * Changes all texts of a value, including the keys of maps.
 *
 * @param change called with each text and its field name. Items of a list get the name of the list, and keys get `key`.
 */
export function changeTexts(
  value: unknown,
  change: (text: string, field: string) => string,
  field = '',
  parent = '',
): unknown {
  if (typeof value === 'string') return change(value, field)
  if (typeof value === 'number' && value >= LONG_NUMBER && NUMBERED.test(field))
    return change(String(value), field) === String(value) ? value : 0
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
