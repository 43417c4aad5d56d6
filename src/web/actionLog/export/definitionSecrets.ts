const COMMENT = /\s#.*/
/** A YAML tag, an anchor, or the indicator of a block scalar. */
const MARK = /^(?:[|>][-+\d]*|[!&]\S*)$/
/** Limits on the lines of one value and on the derived characters: a hostile definition must not freeze the page. */
const MAX_VALUE_LINES = 200
const MAX_DERIVED = 200_000
const ITEM = /^\s*- /
const VALUE = /^\s*(?:- )?(?:["']?value["']?\s*[:=]|<(?:string|value)>)\s*/i
const indentOf = (line: string) => line.search(/[^\s-]/)

/**
 * Returns the lines of a definition. For a setting whose value continues on other lines, also returns one line with
 * the whole value, and one line for each line of the value.
 *
 * @param isSecret returns whether a line contains a secret
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
    // The value of an option is the next item of the list of arguments.
    const [next = ''] = rest
    if (more.length === 0 && ITEM.test(line) && ITEM.test(next)) more.push(next.replace(ITEM, ''))
    // The value of a name is the next line: `- name: PASSWORD`, `value: …`.
    if (more.length === 0 && VALUE.test(next)) more.push(next.replace(VALUE, ''))
    if (more.length === 0) return [line]
    const settings = [[head, ...more].join(' '), ...more.map((next) => `${head} ${next.replace(/^- /, '')}`)]
    derived += settings.reduce((length, setting) => length + setting.length, 0)
    return [line, ...settings]
  })
}

/** Returns a line without its comment, and without tags, anchors and block indicators after its key. */
function headOf(line: string): string {
  let head = line.replace(COMMENT, '').trimEnd()
  for (;;) {
    const blank = Math.max(head.lastIndexOf(' '), head.lastIndexOf('\t'))
    if (blank < 0 || !MARK.test(head.slice(blank + 1))) return head
    head = head.slice(0, blank).trimEnd()
  }
}
