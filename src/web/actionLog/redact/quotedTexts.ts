/** A quoted text, also in the syntax of YAML and SQL (`''`), JavaScript, Lua and XML (`<![CDATA[…]]>`). */
export const QUOTED =
  /"((?:[^"\\]|\\.){1,300})"|'((?:[^'\\]|\\.|''){1,300})'|'([^']{1,300})'|`([^`]{1,300})`|\[(?:CDATA)?\[(.{1,300}?)\]\]/g
/** Maximum number of quoted texts of one line. */
const MAX_QUOTED = 100
/** What follows a name in quotes. */
const NAMES = /^\s{0,20}[:=]/
const LONGEST_NAME_END = 21

type Quoted = { quoted: string; index: number; isName: boolean; value: string }

/** Returns the quoted texts of a line, without their quotes. */
export function quotedIn(text: string): Quoted[] {
  const found: Quoted[] = []
  for (const match of text.matchAll(QUOTED)) {
    const [quoted, double, single, plain, template, long = ''] = match
    const end = match.index + quoted.length
    found.push({
      quoted,
      index: match.index,
      isName: NAMES.test(text.slice(end, end + LONGEST_NAME_END)),
      value: double === undefined ? (single?.replaceAll("''", "'") ?? plain ?? template ?? long) : valueOf(quoted),
    })
    if (found.length >= MAX_QUOTED) break
  }
  return found
}

/**
 * Returns the quoted texts of a line, also of JSON within quotes. @param withNames whether to include names of values
 */
export const quotedTexts = (line: string, withNames = true, isInner = false): string[] =>
  quotedIn(line).flatMap(({ value, isName }) => [
    ...(isName && !withNames ? [] : [value]),
    ...(isInner ? [] : quotedTexts(value, withNames, true)),
  ])

const QUOTED_VALUE = /^'((?:[^']|'')*)'|^"((?:[^"\\]|\\.)*)"/s

/** Returns a value as YAML parses it, without quotes and escapes. An unquoted value ends before a possible end mark. */
export function valueOf(text: string): string {
  const [, single, double] = QUOTED_VALUE.exec(text) ?? []
  if (single !== undefined) return single.replaceAll("''", "'")
  if (double === undefined) return text.split(/\s#|[,}\]]/, 1)[0]!.trim()
  try {
    return JSON.parse(
      `"${double.replaceAll(/\\(?:x(?=[\da-f]{2})|U000000(?=[\da-f]{2}))/g, '\\u00').replaceAll('\\U0000', '\\u')}"`,
    ) as string
  } catch {
    return double
  }
}
