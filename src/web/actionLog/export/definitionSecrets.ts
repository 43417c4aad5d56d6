const COMMENT = /\s#.*/
/** A tag, an anchor, or the sign of a value on the next lines. */
const MARK = /^(?:[|>][-+\d]*|[!&]\S*)$/
const indentOf = (line: string) => line.search(/[^\s-]/)

/**
 * Returns the lines of a definition, and each setting whose value continues on other lines as one line, with all of
 * them and with each.
 *
 * @param isSecret returns whether a line tells a secret
 */
export function settingsOf(definition: string, isSecret: (line: string) => boolean): string[] {
  const lines = definition.split('\n')
  return lines.flatMap((line, index) => {
    const head = headOf(line)
    if (!isSecret(`${head} x`)) return [line]
    const indent = indentOf(line)
    const rest = lines.slice(index + 1)
    const end = rest.findIndex((next) => next.trim() !== '' && indentOf(next) <= indent)
    const more = (end < 0 ? rest : rest.slice(0, end)).map((next) => next.trim()).filter((next) => next !== '')
    if (more.length === 0) return [line]
    return [line, [head, ...more].join(' '), ...more.map((next) => `${head} ${next.replace(/^- /, '')}`)]
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
