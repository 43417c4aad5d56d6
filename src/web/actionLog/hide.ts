import { HIDDEN } from '../../contract/maskCommand'

/** Where in a text something is hidden: from the first place to the last, the last not included. */
type Range = [from: number, to: number]

/** The shortest beginning of a secret that gives it away: what was typed of it before it was changed, or left. */
const shortestStart = (secret: string) => secret.slice(0, Math.max(6, Math.ceil(secret.length / 2)))
/** What is left of a secret after its beginning was hidden, in characters. */
const SHORTEST_END = 3

const hideRanges = (text: string, ranges: Range[]) => {
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
  for (let at = text.indexOf(wanted); at >= 0; at = text.indexOf(wanted, at + wanted.length)) found.push([at, at + wanted.length])
  return found
}

/** A secret as it is, and as addresses, JSON and Base64 hold it; in Base64 for each of the three places where it may begin within a group. */
export function formsOf(secret: string): string[] {
  const bytes = new TextEncoder().encode(secret)
  const forms = [secret, JSON.stringify(secret).slice(1, -1), encodeURIComponent(new TextDecoder().decode(bytes)), new URLSearchParams({ s: secret }).toString().slice(2)]
  for (const before of [0, 1, 2]) {
    const group = String.fromCharCode(...new Array<number>(before).fill(0), ...bytes)
    // The characters at both ends depend on what is beside the secret.
    const inside = btoa(group).slice(Math.ceil((before * 8) / 6), Math.floor((group.length * 8) / 6))
    if (inside.length >= 6) forms.push(inside, inside.replaceAll('+', '-').replaceAll('/', '_'))
  }
  return [...new Set(forms)]
}

/**
 * @param all every text that is to be changed, in one: what it does not hold costs nothing more.
 * @returns what hides secrets in a text, in each of their forms, and their beginnings where nothing of a word follows.
 */
export function hiderOf(secrets: readonly string[], all: string): (text: string) => string {
  const forms = secrets.flatMap(formsOf).filter((form) => all.includes(form))
  const begun = secrets.map((secret) => ({ secret, start: shortestStart(secret) })).filter(({ start }) => all.includes(start))
  return (text) => {
    const ranges = forms.flatMap((form) => placesOf(text, form))
    for (const { secret, start } of begun) {
      for (const [from, to] of placesOf(text, start)) {
        let end = to
        while (end - from < secret.length && text[end] === secret[end - from]) end += 1
        if (end >= text.length || !/[\p{L}\p{N}]/u.test(text[end]!)) ranges.push([from, end])
      }
    }
    return ranges.length > 0 ? hideRanges(text, ranges) : text
  }
}

// eslint-disable-next-line no-control-regex -- colours and the like begin with the character of that number
const ESCAPES = /\u001b\[[0-9;?]*[A-Za-z]/g

/** A line as it is read, and where each of its characters comes from; the same places where nothing was taken out. */
function readable(line: string): { text: string; originOf: (at: number) => number } {
  if (!line.includes('\u001b')) return { text: line, originOf: (at) => at }
  const origins: number[] = []
  let text = ''
  let end = 0
  for (const match of [...line.matchAll(ESCAPES), { index: line.length, 0: '' }]) {
    for (let at = end; at < match.index; at++) origins.push(at)
    text += line.slice(end, match.index)
    end = match.index + match[0].length
  }
  return { text, originOf: (at) => origins[at] ?? line.length }
}

/**
 * Lines without secrets, also where one goes on in the next line or has colours within.
 *
 * @param values what is to be hidden wherever it stands as it is.
 * @param secrets what is to be hidden in all of its forms.
 */
export function hideInLines(lines: readonly string[], values: readonly string[], secrets: readonly string[]): string[] {
  const read = lines.map(readable)
  const starts: number[] = []
  let all = ''
  for (const { text } of read) {
    starts.push(all.length)
    all += text
  }
  const ranges = [...values, ...secrets.flatMap(formsOf)].flatMap((form) => placesOf(all, form))
  for (const [index, { text }] of read.entries()) {
    // The beginning was hidden when the line was recorded, by the word before it.
    if (!text.endsWith(HIDDEN)) continue
    const next = starts[index]! + text.length
    for (const secret of secrets) {
      for (let at = 1; at <= secret.length - SHORTEST_END; at++) if (all.startsWith(secret.slice(at), next)) ranges.push([next, next + secret.length - at])
    }
  }
  if (ranges.length === 0) return [...lines]
  ranges.sort(([one], [other]) => one - other)

  let first = 0
  return lines.map((line, index) => {
    const { text, originOf } = read[index]!
    const [start, end] = [starts[index]!, starts[index]! + text.length]
    while (first < ranges.length && ranges[first]![1] <= start && ranges[first]![0] < start) first += 1
    const here: Range[] = []
    for (let at = first; at < ranges.length && ranges[at]![0] < end; at++) {
      const [from, to] = ranges[at]!
      if (to > start) here.push([originOf(Math.max(from, start) - start), originOf(Math.min(to, end) - start - 1) + 1])
    }
    return here.length > 0 ? hideRanges(line, here) : line
  })
}

/** A value with all of its texts changed, also those that name its fields. */
export function changeTexts(value: unknown, change: (text: string) => string): unknown {
  if (typeof value === 'string') return change(value)
  if (Array.isArray(value)) return value.map((inner) => changeTexts(inner, change))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [change(key), changeTexts(inner, change)]))
}
