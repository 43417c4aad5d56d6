import { withoutSecret } from './secretCommands'

/** What stands for something that must not be told. */
export const HIDDEN = '•••'

/** What is left of a line that was masked before. */
const MASKED = /^['"\s=:]{0,9}•••(?: \(\d+ characters\))?$/

/** A line of output or a command: as it is, or as far as the word, such as `password`, that a secret seems to follow. A masked line stays as it is. */
export function maskLine(line: string): string {
  const plain = withoutSecret(line)
  return plain === line || MASKED.test(line.slice(plain.length)) ? line : `${plain} ${HIDDEN}`
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
 * A console command as the action log and the activity log keep it: as a line where it is a known harmless one, otherwise its first
 * word and the number of its characters (decisions §10).
 * @param plainCommands first words that the definition calls harmless.
 */
export function maskCommand(command: string, plainCommands: readonly string[] = []): string {
  // It runs what follows.
  const run = /^\s*\/?(?:minecraft:)?execute\s(?:.*?\s)?run\s+/i.exec(command)?.[0]
  if (run !== undefined) return maskLine(run) + maskCommand(command.slice(run.length), plainCommands)
  const first = /^\s*\/?(\S+)/.exec(command)?.[1]?.toLowerCase()
  if (plainCommands.some((plain) => plain.toLowerCase() === first)) return maskLine(command)
  const word = COMMAND_WORD.exec(command)?.[0] ?? ''
  if (PLAIN_COMMANDS.has(word.trim().replace('/', '').replace('minecraft:', '').toLowerCase())) return maskLine(command)
  return `${maskLine(word)} ${HIDDEN} (${command.length} characters)`.trimStart()
}
