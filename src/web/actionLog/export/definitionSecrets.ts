const COMMENT = /\s#.*/
/** A tag, an anchor, or the sign of a value on the next lines. */
const MARK = /^(?:[|>][-+\d]*|[!&]\S*)$/
/** Limits for a definition that somebody wrote to freeze the page: lines of one value, and characters that are derived. */
const MAX_VALUE_LINES = 200
const MAX_DERIVED = 200_000
const indentOf = (line: string) => line.search(/[^\s-]/)

/**
 * Returns the lines of a definition, and each setting whose value continues on other lines as one line, with all of
 * them and with each.
 *
 * @param isSecret returns whether a line tells a secret
 */
export function settingsOf(definition: string, isSecret: (line: string) => boolean): string[] {
  const lines = definition.split('\n')
  let derived = 0
  return lines.flatMap((line, index) => {
    const head = headOf(line).trimStart()
    if (derived > MAX_DERIVED || !isSecret(`${head} x`)) return [line]
    const indent = indentOf(line)
    const rest = lines.slice(index + 1, index + 1 + MAX_VALUE_LINES)
    const end = rest.findIndex((next) => next.trim() !== '' && indentOf(next) <= indent)
    const more = (end < 0 ? rest : rest.slice(0, end)).map((next) => next.trim()).filter((next) => next !== '')
    if (more.length === 0) return [line]
    const settings = [[head, ...more].join(' '), ...more.map((next) => `${head} ${next.replace(/^- /, '')}`)]
    derived += settings.reduce((length, setting) => length + setting.length, 0)
    return [line, ...settings]
  })
}

/** Returns a line without its comment, and without the marks after its key. */
function headOf(line: string): string {
  let head = line.replace(COMMENT, '').trimEnd()
  for (;;) {
    const blank = Math.max(head.lastIndexOf(' '), head.lastIndexOf('\t'))
    if (blank < 0 || !MARK.test(head.slice(blank + 1))) return head
    head = head.slice(0, blank).trimEnd()
  }
}

const QUOTED = /^'((?:[^']|'')*)'|^"((?:[^"\\]|\\.)*)"/s

/** Returns what YAML makes of the text of a value: without quotes and escapes, or up to what may end it. */
export function valueOf(text: string): string {
  const [, single, double] = QUOTED.exec(text) ?? []
  if (single !== undefined) return single.replaceAll("''", "'")
  if (double === undefined) return text.split(/\s#|[,}\]]/, 1)[0]!.trim()
  try {
    return JSON.parse(`"${double.replaceAll(/\\x(?=[\da-f]{2})/gi, '\\u00')}"`) as string
  } catch {
    return double
  }
}
