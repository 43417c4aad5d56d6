const secrets = [
  // Plugins for signing in to a game server take the password as an argument.
  /^\s*\/?(?:login|log|l|register|reg|changepassword|changepw|unregister|premium|2fa|totp|email)\b/i,
  /\b(?:pass(?:word|wd|phrase|code)?|pwd|token|secret|credential|bearer|auth(?:orization)?|(?:api|access|private)[-_ ]?key|pin)s?\b['"]?\s*[=:\s]\s*\S/i,
  // A password within a URL.
  /\b[a-z][a-z0-9+.-]*:\/\/[^\s/:@]*:[^\s/@]+@/i,
]

/** Whether a console command looks like it holds a secret: it is remembered for as long as the page, and never written down. */
export const looksSecret = (command: string) => secrets.some((pattern) => pattern.test(command))
