import { withoutSecret } from '../../contract/secretCommands'

/** What stands for something that must not be told. */
const HIDDEN = '•••'

/** How long the text in place of a text may be: its length is told no more exactly than this. */
const LENGTHS = [16, 64, 256]
/** Of a text of many lines, so many are hinted at. */
const LINES = 50

/** A text of about the same size, from which nothing can be told. An empty one stays empty. */
export function maskText(text: string): string {
  if (text === '') return text
  const lines = text.split('\n')
  if (lines.length > 1) return lines.slice(0, LINES).map((line) => (line.trim() === '' ? '' : HIDDEN)).join('\n')
  return '•'.repeat(LENGTHS.find((length) => text.length <= length) ?? Math.max(...LENGTHS))
}

/** The same shape, so that pages can draw it, with nothing of what was in it. */
export function maskValue(value: unknown): unknown {
  if (typeof value === 'string') return maskText(value)
  if (typeof value === 'number') return 0
  if (Array.isArray(value)) return value.map(maskValue)
  if (typeof value === 'object' && value !== null) {
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, maskValue(inner)]))
  }
  return value
}

/** A line of output or a command: as it is, or as far as the word, such as `password`, that a secret seems to follow. */
export function maskLine(line: string): string {
  const plain = withoutSecret(line)
  return plain === line ? line : `${plain} ${HIDDEN}`
}

/** Commands of game servers, without arguments that could be secrets. All others may be a plugin's, which take anything. */
const PLAIN_COMMANDS = new Set(
  (
    'advancement attribute ban ban-ip banlist bossbar clear clone damage datapack debug defaultgamemode deop difficulty effect enchant end execute experience fill ' +
    'fillbiome forceload function gamemode gamerule gc give glist help item jfr kick kill list locate loot mspt op pardon pardon-ip particle perf place playsound pl plugins ' +
    'random recipe reload restart ride rotate save-all save-off save-on say schedule scoreboard seed send server setblock setidletimeout setworldspawn spawnpoint spectate ' +
    'spreadplayers start status stop stopsound summon tag team teleport tick time timings title tp tps transfer trigger uptime version ver weather whitelist worldborder xp'
  ).split(' '),
)
/** A word as commands begin with. Anything else at that place may be the answer to a question, such as for a password. */
const COMMAND_WORD = /^\s*\/?[a-z][a-z_:-]{0,31}(?=\s|$)/i

/**
 * A command: as a line where it is a known harmless one, otherwise its first word and its length (decisions §10).
 * @param plainCommands first words that the definition calls harmless.
 */
export function maskCommand(command: string, plainCommands: readonly string[] = []): string {
  const first = /^\s*\/?(\S+)/.exec(command)?.[1]?.toLowerCase()
  if (plainCommands.some((plain) => plain.toLowerCase() === first)) return maskLine(command)
  const word = COMMAND_WORD.exec(command)?.[0] ?? ''
  if (PLAIN_COMMANDS.has(word.trim().replace('/', '').replace('minecraft:', '').toLowerCase())) return maskLine(command)
  return `${maskLine(word)} ${HIDDEN} (${command.length})`.trimStart()
}

/** Settings of a deployment that say nothing secret, at the top level of its text. */
const PLAIN = /^(?:name|type|description|dataDirectory|node): /
/** Keys that the product itself knows; all others were chosen by somebody, and may be anything. */
const KNOWN = /^\s*(?:- )?(?:name|type|description|dataDirectory|node|run|jar|javaArgs|command|env|image|port|stop|timeoutSeconds|ready|readyTimeoutSeconds|drain|discover|instances|min|max|playersPerInstance|resources|cpu|memory|data|keep|mounts|plainCommands):(?=\s|$)/
/** What YAML is made of, beside the words. */
const WORDS = /[^\s[\]{},"':#|>&*?-]+/g

/** A deployment's text: its lines, its structure and the settings' names stay, the values do not: any of them may hold a secret. */
export function maskDefinition(text: string): string {
  return text
    .split('\n')
    .map((line) => {
      // A comment may hold anything.
      if (PLAIN.test(line)) return line.replace(/\s#.*/, ` # ${HIDDEN}`)
      const key = KNOWN.exec(line)?.[0] ?? ''
      return key + line.slice(key.length).replace(WORDS, HIDDEN)
    })
    .join('\n')
}

/** What of `masked` must not be told elsewhere either, such as in the text of a failure that quotes it. */
export function secretsOf(value: unknown, masked: unknown): string[] {
  if (typeof value === 'string') {
    if (typeof masked !== 'string' || value === masked) return []
    // As a word of a command or a text, and as a part of an address: `mysql://root:secret@host/name`.
    return [value, ...value.split(/[\s[\]{}(),;:"'`=<>|#&*?]+/), ...value.split(/[\s[\]{}(),;:"'`=<>|#&*?@/]+/)].filter((word) => word.length >= 4 && !masked.includes(word))
  }
  if (typeof value !== 'object' || value === null) return []
  const inside = (typeof masked === 'object' && masked !== null ? masked : {}) as Record<string, unknown>
  return Object.entries(value).flatMap(([key, inner]) => secretsOf(inner, inside[key]))
}

export const hide = (text: string, secrets: readonly string[]) => secrets.reduce((shown, secret) => shown.replaceAll(secret, HIDDEN), text)
