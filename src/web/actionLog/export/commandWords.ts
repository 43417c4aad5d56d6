import { HIDDEN, isHarmlessCommand } from '../../../contract/secrets/maskCommand'

/**
 * Words of game servers that say what a command does. Any other word may be typed by anyone, for example after `say`.
 */
const WORDS = new Set(
  (
    'add adventure all append as ask at attribute auto base chat clear creative day difficulty disable easy enable false fill get give hard hide if in insert level levels list ' +
    'max merge midnight min modify night noon normal off on operate peaceful players points positioned prefix query rain reload remove reset restart run selector set show start ' +
    'stop store subtitle suffix survival spectator thunder title tp true unless value warn @a @e @n @p @r @s'
  ).split(' '),
)
/** Commands with a text: all words of it are typed, also those that say in others what a command does. */
const WITH_TEXT = /^\/?(?:minecraft:)?(?:say|kick|ban|ban-ip)$/i
/** A command that is not known to be harmless. If it has one word, it may be the answer to a prompt for a password. */
const MASKED_COMMAND = /^(\S+) ••• \((\d+) characters\)$/

/**
 * Masks what a user typed in a command: the words of a harmless command of a game server after the first one, and a
 * command of one word or with the first word of a known secret. Other commands were reduced to their first word, or the definition declares them harmless
 * (`plainCommands`).
 *
 * @param command a result of `maskCommand`
 * @param shown returns the part of a word that may be shown, or undefined
 * @param begins returns whether a known secret begins with a text
 */
export function maskCommandWords(
  command: string,
  shown: (word: string) => string | undefined,
  begins: (text: string) => boolean,
): string {
  const [first = '', ...words] = command.trim().split(/\s+/)
  if (!isHarmlessCommand(first)) {
    const [, word = '', length] = MASKED_COMMAND.exec(command) ?? []
    const isSecret = word.length === Number(length) ? shown(word) === undefined : begins(`${word} `)
    return isSecret ? command.slice(word.length + 1) : command
  }
  // What follows a masked word may be the rest of a passphrase.
  let isText = WITH_TEXT.test(first)
  const left = words.map((word) => {
    const isCommand = !isText && isOwn(word)
    const left = isCommand ? word.toLowerCase() : (shown(word) ?? HIDDEN)
    isText ||= left === HIDDEN || (isCommand && WITH_TEXT.test(word))
    return left
  })
  // One mask for consecutive words, because their number may reveal them.
  return [first, ...left.filter((word, at) => word !== HIDDEN || left[at - 1] !== HIDDEN)].join(' ')
}

const isOwn = (word: string) => WORDS.has(word.toLowerCase()) || isHarmlessCommand(word)

/**
 * Returns what a user typed in a harmless command of a game server: the words after the first one, unless all of them
 * say what the command does.
 */
export function wordsOfHarmless(command: string): string[] {
  const [first = '', ...words] = command.trim().split(/\s+/)
  const isTyped = [first, ...words].some((word) => WITH_TEXT.test(word)) || !words.every(isOwn)
  return isHarmlessCommand(first) && isTyped ? words : []
}
