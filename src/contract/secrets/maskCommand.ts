import { changeCommandOfNote } from '../sockets/commandNote'
import { foldedText, withoutSecret } from './secretCommands'

/** The replacement of a secret. */
export const HIDDEN = '•••'

/** The end of a line that is already masked. */
const MASKED = /^['"\s=:]{0,9}•••(?: \(\d+ characters\))?$/

/** Masks the rest of a line after a word, such as `password`, that suggests a secret. Idempotent. */
export function maskLine(line: string): string {
  const plain = withoutSecret(line)
  return plain === line || MASKED.test(line.slice(plain.length)) ? line : `${plain} ${HIDDEN}`
}

/** Commands of game servers whose arguments hold no secrets. Plugins may define any other, with any arguments. */
const PLAIN_COMMANDS = new Set(
  (
    'advancement attribute ban ban-ip banlist bossbar clear clone damage datapack debug defaultgamemode deop difficulty effect enchant end execute experience fill ' +
    'fillbiome forceload function gamemode gamerule gc give glist help item jfr kick kill list locate loot mspt op pardon pardon-ip particle perf place playsound pl plugins ' +
    'random recipe reload restart ride rotate save-all save-off save-on say schedule scoreboard seed send server setblock setidletimeout setworldspawn spawnpoint spectate ' +
    'spreadplayers start status stop stopsound summon tag team teleport tick time timings title tp tps transfer trigger uptime version ver weather whitelist worldborder xp'
  ).split(' '),
)
/** @param word may be surrounded by blanks, and begin with a slash and the game's namespace */
export const isHarmlessCommand = (word: string) =>
  PLAIN_COMMANDS.has(word.trim().replace('/', '').replace('minecraft:', '').toLowerCase())

/** A valid command name. Other input may be the answer to a prompt, for example for a password. */
const COMMAND_WORD = /^\s*\/?[a-z][a-z_:-]{0,31}(?=\s|$)/i

/** In a command, a secret may follow these words. Lines of output contain them too often for a pattern. */
const SIGN_IN =
  /(?<!\w)(?:(?:log|sign)[ -]?(?:in|on)|(?:un)?register|identify|authenticate|change-?pass(?:word)?)(?!\w)(?=\s*\S)/i
/** In a command, a secret may also precede these words. */
const MENTION =
  /(?<![a-z0-9])(?:passw|pass(?:phrase|code)|pwd|token|secret|cred(?:s|ential)|(?:api|private|invite|access)[-_ ]?(?:key|code))/i
/** Words that are hardly a secret. */
const ORDINARY = /^\W*[A-Za-z]?[a-z]{0,10}\W*$/

/** Masks the secrets that the arguments of a harmless command may still mention: `say please login •••`. */
function maskHarmless(command: string): string {
  const text = foldedText(command)
  const word = SIGN_IN.exec(text)
  const masked = maskLine(word ? `${text.slice(0, word.index + word[0].length)} ${HIDDEN}` : command)
  if (masked === command && !MENTION.test(text)) return command
  // A passphrase consists mostly of ordinary words, but rarely only of them.
  const [first = '', ...words] = masked.split(' ')
  return words.every((word) => ORDINARY.test(word)) ? masked : `${first} ${HIDDEN}`
}

/**
 * Masks a console command for the action log and the activity log: a known harmless command is masked as a line; any
 * other command is reduced to its first word and its length (decisions §10).
 * @param plainCommands first words that the definition declares harmless
 */
export function maskCommand(command: string, plainCommands: readonly string[] = []): string {
  // `execute … run` runs the command that follows.
  const run = /^\s*\/?(?:minecraft:)?execute\s(?:.*?\s)?run\s+/i.exec(command)?.[0]
  if (run !== undefined) return maskLine(run) + maskCommand(command.slice(run.length), plainCommands)
  const first = /^\s*\/?(\S+)/.exec(command)?.[1]?.toLowerCase()
  if (plainCommands.some((plain) => plain.toLowerCase() === first)) return maskHarmless(command)
  const word = COMMAND_WORD.exec(command)?.[0] ?? ''
  if (isHarmlessCommand(word)) return maskHarmless(command)
  // Without the blanks around it: the length tells whether the word is the whole command.
  return `${maskLine(word.trim())} ${HIDDEN} (${command.trim().length} characters)`.trimStart()
}

/** Masks a line of output. If it is the platform's and shows the command of a user, the command is masked as such. */
export const maskOutput = ({ type, content }: { type: string; content: string }): string =>
  maskLine(type === 'system' ? changeCommandOfNote(content, (command) => maskCommand(command)) : content)
