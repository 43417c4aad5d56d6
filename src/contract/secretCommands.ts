// Plugins for signing in to a game server take the password as an argument.
const SIGN_IN = '(?:login|log|l|register|reg|changepassword|changepw|unregister|premium|2fa|totp|email)'

/** Part of a longer name too: `DB_PASSWORD`, `clientSecret`, `AWS_SECRET_ACCESS_KEY`. */
const WORD = '(?:passw(?:or)?d|passphrase|passcode|pwd|token|secret|credential|cookie|(?:api|access|private)[-_ ]?key)'

const secrets = [
  new RegExp(`^\\s*/?${SIGN_IN}\\b`, 'i'),
  // Servers print the commands that they are given.
  new RegExp(`(?<=[\\s:"'])/${SIGN_IN}\\b`, 'i'),
  new RegExp(`${WORD}[\\w.-]{0,40}['"]?\\s*[=:]\\s*\\S`, 'i'),
  new RegExp(`${WORD}s?['"]?\\s+\\S`, 'i'),
  // These are part of other words as well: compass, author, spin.
  /(?<![a-z0-9])(?:pass|bearer|auth(?:orization)?|pin)s?(?![a-z0-9])['"]?\s*[=:\s]\s*\S/i,
  // A password within a URL.
  /\b[a-z][a-z0-9+.-]*:\/\/[^\s/:@]*:[^\s/@]+@/i,
  // A signed token.
  /\beyJ[\w-]{8,}\.[\w-]+/,
]

/** What every one of these holds something of: most lines do not, and there may be thousands. */
const hint = new RegExp(`(?:^\\s*/?|(?<=[\\s:"'])/)${SIGN_IN}\\b|pass|pwd|token|secret|credential|cookie|key|bearer|auth|pin|://|eyJ`, 'i')

/** Whether a console command looks like it holds a secret: it is remembered for as long as the page, and never written down. */
export const looksSecret = (command: string) => hint.test(command) && secrets.some((pattern) => pattern.test(command))

/** The part of a line, from its start, that may be told: up to and with the word that gives the secret away. */
export function withoutSecret(line: string): string {
  if (!hint.test(line)) return line
  const ends = secrets.flatMap((pattern) => {
    const match = pattern.exec(line)
    if (!match) return []
    const word = match[0].startsWith('eyJ') ? '' : (/^\s*\/?[\w+.-]+/.exec(match[0])?.[0] ?? '')
    return [match.index + word.length]
  })
  return line.slice(0, Math.min(line.length, ...ends))
}
