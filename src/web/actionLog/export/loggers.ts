import { withoutEscapes } from '../../../contract/secrets/secretCommands'
import { normalizedText } from './normalize'

/** Maximum length of a common prefix or suffix, in characters. */
const LONGEST = 200
const LETTER = /[\p{L}\p{N}]/u

/**
 * Returns for each line the normalized lengths of the prefix and of the suffix that it shares with a neighbouring line,
 * ignoring digits. They were probably written by a logger, or are the sides of a frame.
 */
export function commonEnds(lines: readonly string[]): { beginnings: number[]; endings: number[] } {
  const plain = lines.map(withoutEscapes)
  const shapes = plain.map((line) => line.replace(/\d/g, '0'))
  const beginnings = shared(shapes.map((shape) => shape.slice(0, LONGEST)))
  const rests = shapes.map((shape, index) => reversed(shape.slice(beginnings[index]).slice(-LONGEST)))
  const endings = shared(rests)
  const ends = shapes.map((shape, index): [string, string] => {
    const [, before, after] = MESSAGE.exec(plain[index]!) ?? []
    return before !== undefined && after !== undefined
      ? [before, after]
      : [shape.slice(0, beginnings[index]), reversed(rests[index]!.slice(0, endings[index]))]
  })
  return {
    beginnings: ends.map(([before]) => normalizedText(before).length),
    endings: ends.map(([, after]) => normalizedText(after).length),
  }
}

/** A line of a logger that writes fields, as JSON or with `=`: what precedes and follows the value of the message. */
const MESSAGE =
  /^(.{0,400}?(?:^|[\s{,])"?(?:msg|message|log|text)"?\s{0,5}[:=]\s{0,5}")(?:[^"\\]|\\.){0,4000}((?:".*)?)$/s

const reversed = (text: string) => text.split('').reverse().join('')

/** Returns the length of the prefix that each text shares with a neighbour, without the letters at its end. */
function shared(texts: readonly string[]): number[] {
  const common = (one: string, other = '') => {
    let length = 0
    while (length < one.length && one[length] === other[length]) length++
    while (length > 0 && LETTER.test(one[length - 1]!)) length--
    return length
  }
  return texts.map((text, index) => Math.max(common(text, texts[index - 1]), common(text, texts[index + 1])))
}

/** Prefixes of loggers: a time, a level, names in brackets, a number of a line, a symbol. */
const STAMP =
  /^(?:\s{0,20}(?:\[[^\]]{1,60}\]|\(?\d{1,4}[-:/.]\d[\d:.,/TZ+-]{0,40}\)?|(?:trace|debug|info|notice|warn(?:ing)?|error|fatal|severe)\b|\d{1,6}\s{0,3}[|:.)]|[|>:*#-]))+/i

/** Returns the length of the normalized prefix of a logger. */
export function stampOf(line: string): number {
  const stamp = STAMP.exec(withoutEscapes(line))?.[0]
  return stamp === undefined ? 0 : normalizedText(stamp).length
}
