const COMMENT = /\s#.*/
/** A YAML tag, an anchor, or the indicator of a block scalar. */
const MARK = /^(?:[|>][-+\d]*|[!&]\S*)$/
/** Limits on the lines of one value and on the derived characters: a hostile definition must not freeze the page. */
const MAX_VALUE_LINES = 200
const MAX_DERIVED = 200_000
const ITEM = /^\s*- /
const VALUE = /^\s*(?:- )?(?:["']?value["']?\s*[:=]|<(?:param-)?(?:string|value)>|:(?=\s))\s*/i
/** A name whose value may be on the line before or after it. */
const NAME = /^\s*(?:- )?["']?(?:name|key)["']?\s*[:=]/i
/** An element with a name, and one with its value, which may be on the next line. */
const ELEMENT =
  /<(?:param-)?(?:key|name)>(?<name>[^<]{1,100})<\/(?:param-)?(?:key|name)>\s{0,20}(?:<(?:param-)?(?:string|value)>(?<value>[^<]{1,300}))?/i
/** An element that has its value before its name. */
const VALUE_FIRST = /\svalue=["'](?<value>[^"'<>]{1,300})["'][^<>]{0,100}\s(?:key|name)=["'](?<name>[^"'<>]{1,100})/i
/** A heading with a colon, as in notes. The value is a line of its own, and no setting. */
const HEADING = /[^\s"'\]]:$/
const NO_SETTING = /^[^:=<>{}[\]]+$/
/**
 * What begins a text of several lines in TOML, PHP, shells, PowerShell, Lua and JavaScript, with the word that ends it.
 */
const OPENING = /(?:"""|'''|@["']|\[=*\[|`|<<[<~-]?\s?["']?(\w{1,40})["']?)$/
const ALIAS = /\*([\w-]{1,60})$/
const ANCHOR = /&([\w-]{1,60})[^\S\n]+(\S[^\n]*)/g
/** A line that continues on the next one. */
const CONTINUED = /\\$/
const indentOf = (line: string) => line.search(/[^\s-]/)

/**
 * Returns the lines of a definition. For a setting whose value continues on other lines, also returns one line with
 * the whole value, and one line for each line of the value.
 *
 * @param isSecret returns whether a line contains a secret
 */
export function settingsOf(definition: string, isSecret: (line: string) => boolean): string[] {
  const lines = definition.split('\n')
  const anchors = new Map(Array.from(definition.matchAll(ANCHOR), ([, name = '', value = '']) => [name, value]))
  let derived = 0
  return lines.flatMap((line, index) => {
    const { name, value } = (ELEMENT.exec(line) ?? VALUE_FIRST.exec(line))?.groups ?? {}
    let head = name === undefined ? headOf(line).trimStart() : `${name}:`
    if (derived > MAX_DERIVED || !isSecret(`${head} x`)) return [line]
    if (value !== undefined) return [line, `${head} ${value}`]
    const indent = indentOf(line)
    const rest = lines.slice(index + 1, index + 1 + MAX_VALUE_LINES)
    const end = rest.findIndex((next) => next.trim() !== '' && indentOf(next) <= indent)
    const more = (end < 0 ? rest : rest.slice(0, end)).map((next) => next.trim()).filter((next) => next !== '')
    // The value of an option is the next item of the list of arguments.
    const [next = ''] = rest
    if (more.length === 0 && ITEM.test(line) && ITEM.test(next)) more.push(next.replace(ITEM, ''))
    // The value of a name is the next line: `- name: PASSWORD`, `value: …`.
    if (more.length === 0 && VALUE.test(next)) more.push(next.replace(VALUE, ''))
    const above = lines[index - 1] ?? ''
    if (more.length === 0 && NAME.test(line) && VALUE.test(above)) more.push(above.replace(VALUE, ''))
    if (more.length === 0) {
      more.push(...continuedBy(head, rest, anchors))
      const below = rest.find((next) => next.trim() !== '') ?? ''
      if (HEADING.test(head) && NO_SETTING.test(below)) more.push(below.trim())
      head = head.replace(OPENING, '').replace(ALIAS, '').replace(CONTINUED, '')
    }
    if (more.length === 0) return [line]
    const settings = [[head, ...more].join(' '), ...more.map((next) => `${head} ${next.replace(/^- /, '')}`)]
    derived += settings.reduce((length, setting) => length + setting.length, 0)
    return [line, ...settings]
  })
}

/** Returns the rest of a value that no indentation or list marks: of an alias, or of a text of several lines. */
function continuedBy(head: string, rest: readonly string[], anchors: ReadonlyMap<string, string>): string[] {
  const anchored = anchors.get(ALIAS.exec(head)?.[1] ?? '')
  if (anchored !== undefined) return [anchored]
  if (CONTINUED.test(head)) return rest.slice(0, 1).map((next) => next.trim())
  const [opening, word] = OPENING.exec(head) ?? []
  if (opening === undefined) return []
  // The same signs in reverse, such as `'@` after `@'`.
  const closing = word ?? [...opening].reverse().join('').replaceAll('[', ']')
  const end = rest.findIndex((next) => next.includes(closing))
  const last = rest[end]?.split(closing, 1)[0] ?? ''
  return [...rest.slice(0, Math.max(0, end)), last].map((next) => next.trim()).filter((next) => next !== '')
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
