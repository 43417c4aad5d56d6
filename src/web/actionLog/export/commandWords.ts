import { HIDDEN, isHarmlessCommand, maskCommand } from '../../../contract/secrets/maskCommand'

/**
 * Keywords in commands of game servers. Any other word may be free text, for example after `say`.
 */
const WORDS = new Set(
  (
    'add adventure all append as ask at attribute auto base chat clear creative day difficulty disable easy enable false fill get give hard hide if in insert level levels list ' +
    'max merge midnight min modify night noon normal off on operate peaceful players points positioned prefix query rain reload remove reset restart run selector set show start ' +
    'stop store subtitle suffix survival spectator thunder title tp true unless value warn @a @e @n @p @r @s'
  ).split(' '),
)
/** Commands with a free text: all words of the text count as typed, even words that are keywords in other commands. */
const WITH_TEXT = /^\/?(?:minecraft:)?(?:say|kick|ban|ban-ip)$/i
/** A masked command. A command of one word that is not known to be harmless may be the reply to a password prompt. */
const MASKED_COMMAND = /^(\S+) ••• \((\d+) characters\)$/

/**
 * Masks the typed text in a recorded command: the words after the first word in a harmless command of a game server,
 * a command of one word, and a command whose first word a known secret starts with. Other commands were reduced to
 * their first word by the recorder, or the definition declares them harmless (`plainCommands`).
 *
 * @param command a result of `maskCommand`
 * @param shown returns the part of a word that may be shown, or undefined
 * @param begins returns whether a known secret starts with a text
 */
export function maskCommandWords(
  command: string,
  shown: (word: string) => string | undefined,
  begins: (text: string) => boolean,
): string {
  const [first = '', ...words] = command.trim().split(/\s+/)
  if (!isHarmlessCommand(first)) {
    const [, word, length] = MASKED_COMMAND.exec(command) ?? []
    // The recorder left no word before the mask, or the whole command.
    if (word === undefined) return command
    const isSecret = word.length === Number(length) ? shown(word) === undefined : begins(`${word} `)
    return isSecret ? command.slice(word.length + 1) : command
  }
  // The words after a masked word may belong to the same passphrase.
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

/** Whether a word may be the name of a command, unlike an assignment: `X=…`. */
export const isCommandName = (word: string) => !maskCommand(word).startsWith(HIDDEN)

const isOwn = (word: string) => WORDS.has(word.toLowerCase()) || isHarmlessCommand(word)

/**
 * Returns the typed text of a harmless command of a game server: the words after the first word, unless all of them
 * are keywords.
 */
export function wordsOfHarmless(command: string): string[] {
  const [first = '', ...words] = command.trim().split(/\s+/)
  const isTyped = [first, ...words].some((word) => WITH_TEXT.test(word)) || !words.every(isOwn)
  return isHarmlessCommand(first) && isTyped ? words : []
}
