/**
 * What gives a secret away, from the word before it. Console lines are attacker's text: each of these takes time in
 * proportion to the line (test/contract/patterns.test.ts), so no two parts of one may match the same run of characters.
 */
const secrets = [
  // Plugins for signing in to a game server take the password as an argument.
  /^\s*\/?(?:login|log|l|register|reg|changepassword|changepw|unregister|premium|2fa|totp|email)\b/i,
  // Servers print the commands that they are given.
  /(?<=[\s:"'])\/(?:login|log|l|register|reg|changepassword|changepw|unregister|premium|2fa|totp|email)\b/i,
  // Part of a longer name too: `DB_PASSWORD`, `clientSecret`, `AWS_SECRET_ACCESS_KEY`.
  /(?:passw(?:or)?d|passphrase|passcode|pwd|token|secret|credential|cookie|(?:api|access|private)[-_ ]?key)[\w.-]{0,40}['"]?\s*[=:]\s*\S/i,
  /(?:passw(?:or)?d|passphrase|passcode|pwd|token|secret|credential|cookie|(?:api|access|private)[-_ ]?key)s?['"]?\s+\S/i,
  // These are part of other words as well: compass, author, spin.
  /(?<![a-z0-9])(?:pass|bearer|auth(?:orization)?|pin)s?(?![a-z0-9])['"]?[=:\s]+[^=:\s]/i,
  // A password within a URL, from the end of its scheme.
  /[a-z0-9]:\/\/[^\s/:@]*:[^\s/@]+@/i,
  // A signed token.
  /(?<![\w-])eyJ[\w-]{8}/,
]

/** What every one of these holds something of: most lines do not, and there may be thousands. */
const hint = /(?:^\s*\/?|(?<=[\s:"'])\/)(?:login|log|l|register|reg|changepassword|changepw|unregister|premium|2fa|totp|email)\b|pass|pwd|token|secret|credential|cookie|key|bearer|auth|pin|:\/\/|eyJ/i

/** Longer texts are looked at so far; whatever comes after is taken for a secret. In UTF-16 units. */
const LOOKED_AT = 128 * 1024

/** Whether a console command looks like it holds a secret: it is remembered for as long as the page, and never written down. */
export const looksSecret = (command: string) => command.length > LOOKED_AT || (hint.test(command) && secrets.some((pattern) => pattern.test(command)))

/** The part of a line, from its start, that may be told: up to and with the word that gives the secret away. */
export function withoutSecret(text: string): string {
  const line = text.slice(0, LOOKED_AT)
  if (!hint.test(line)) return line
  const ends = secrets.flatMap((pattern) => {
    const match = pattern.exec(line)
    if (!match) return []
    const word = match[0].startsWith('eyJ') ? '' : (/^\s*\/?[\w+.-]+/.exec(match[0])?.[0] ?? '')
    return [match.index + word.length]
  })
  return line.slice(0, Math.min(line.length, ...ends))
}
