/**
 * Patterns of secrets in console commands and lines of output, for the activity log, the console's echo and the action
 * log. When in doubt, a pattern matches. The input is untrusted, so each pattern must take linear time
 * (test/contract/patterns.test.ts). Each has its cases in test/contract/secretCommands.test.ts.
 */
export interface SecretPattern {
  name: string
  /** The group `shown` is the part of the match that may be shown. Without the group, nothing of the match is shown. */
  pattern: RegExp
}

export const secretPatterns: readonly SecretPattern[] = [
  // Sign-in plugins of game servers take the password as an argument.
  {
    name: 'command of a sign-in plugin',
    pattern:
      /^(?<shown>\s*(?:> ?)?[/#]?(?:[\w-]{1,40}:)?(?:log|login|logon|l|reg|register|unreg|unregister|signin|signup|(?:change|set|reset|new)(?:password|passwd|pass|pw)|cp|premium|cracked|2fa|totp|otp|mfa|email|mail|recover|recovery|identify|force(?:login|register)|captcha|(?:admin|staff|super)login|enablecheats|makemeadmin))(?![\w-])/i,
  },
  // Servers print the commands that they receive.
  {
    name: 'command of a sign-in plugin within a line',
    pattern:
      /(?:(?<=[\s:"'])(?=\/)|(?<=\srun\s))(?<shown>\/?(?:[\w-]{1,40}:)?(?:log|login|logon|l|reg|register|unreg|unregister|signin|signup|(?:change|set|reset|new)(?:password|passwd|pass|pw)|cp|premium|cracked|2fa|totp|otp|mfa|email|recover|recovery|identify|force(?:login|register)|captcha|(?:admin|staff|super)login))(?![\w-])/i,
  },
  {
    name: 'sign-in plugin',
    pattern:
      /(?<![a-z0-9.])(?<shown>(?:authme|nlogin|openlogin|librelogin|librepremium|jpremium|fastlogin|loginsecurity|xauth|crazylogin|limboauth|dynamicbungeeauth|simplelogin|userlogin|easyauth|simpleauth|nexauth|mcauth)\s+(?:[\w-]{1,40}))\s+\S/i,
  },
  {
    name: 'part of a command of a plugin',
    pattern:
      /(?<![\w/.])(?<shown>\/[\w:-]{1,40}\s{1,5}(?:(?:un)?register|login|link|verify|(?:change|set|reset|new)(?:passwd|pass|pw)))\s{1,5}(?!shells?(?!\w))\S/i,
  },
  // A code links an account of a chat service, or makes its first user an administrator.
  { name: 'code as an argument', pattern: /(?<![\w/.])(?<shown>\/(?:link|verify|setup))\s{1,5}(?=[\w-]{0,20}\d)/i },
  {
    name: 'user of a plugin',
    pattern:
      /(?<shown>(?:(?<=^\s{0,20}(?:> ?)?)(?:plan\s{1,5})?|(?<=\/)(?:[\w-]{1,20}\s{1,5})?)(?:web)?users?\s{1,5}(?:add|create|register)\s{1,5}[\w.-]{1,60})\s{1,5}\S/i,
  },
  {
    name: 'key of a shop',
    pattern: /(?<![\w-])(?<shown>(?:enjin|craftingstore|tebex|buycraft|minestore)[\s:]{1,5}(?:key|setup))\s{1,5}\S/i,
  },
  {
    name: 'services of IRC',
    pattern:
      /(?<![a-z0-9])(?<shown>(?:(?:nick|chan|auth|user|oper)serv|ns)[\s:]{1,20}(?:identify|id|register|group|ghost|recover|regain|release|login|auth|set|drop)|\/(?:quote\s{1,20})?oper)\s+\S/i,
  },
  // `>` precedes the password of a user.
  {
    name: 'access list of Redis',
    pattern:
      /(?<shown>(?:user\s{1,5}\S{1,60}\s{1,5}(?:on|off|reset\w{0,10})|acl\s{1,5}setuser\s{1,5}\S{1,60})\s(?:[^>\n]{0,100}\s)?['"]?>)\S/i,
  },
  {
    name: 'user of Windows',
    pattern:
      /^(?<shown>\s{0,20}(?:> ?)?net1?(?:\.exe)?\s{1,5}user\s{1,5}(?:"[^"]{1,60}"|[^\s"/]{1,60}))\s{1,5}[^\s/*]/i,
  },
  {
    name: 'user of Windows within a line',
    pattern:
      /(?<![\w-])(?<shown>net1?(?:\.exe)?\s{1,5}user\s{1,5}(?:"[^"]{1,60}"|[^\s"/]{1,60}))\s{1,5}[^\s/*][^\n]{0,200}\s\/[a-z]/i,
  },
  {
    name: 'network drive of Windows',
    pattern:
      /(?<![\w-])(?<shown>net1?(?:\.exe)?\s{1,5}use\s(?:[^\s\\]{1,20}\s{1,5})?(?:"\\\\[^"]{1,100}"|\\\\\S{1,100}))\s{1,5}(?:[^\s/*]|[^\n]{0,100}\/user:\S{1,60}\s{1,5}[^\s/*])/i,
  },
  { name: 'remote console', pattern: /^(?<shown>\s{0,20}(?:> ?)?\/?rcon)\s+\S/i },
  { name: 'remote console within a line', pattern: /(?<![a-z0-9])(?<shown>rcon\s{1,20}(?:login|auth))\s+\S/i },
  {
    name: 'option of a Steam server',
    pattern: /(?<!\S)(?<shown>\+login(?!\s+anonymous(?!\S))|[+-]?(?:sv_setsteamaccount|set_steam_guard_code))\s+\S/i,
  },
  // Matches parts of longer names too: `DB_PASSWORD`, `clientSecret`, `AWS_SECRET_ACCESS_KEY`.
  {
    name: 'name with a value',
    pattern:
      /(?<shown>(?:passw(?:or)?d|pass[-_ ]?phrase|pass[-_ ]?code|pwd|token|secret|credential|cookie|mnemonic|webhook|(?:api|access|priv(?:ate)?|license|licence|signing|encryption|encrypt|master|shared|account|auth|ssh|deploy|service|host|client|server)[-_. ]?key|(?:auth|access|join|pin|unlock|activation|security)[-_ ]?code)[\w.-]{0,40})(?:['"]?\]?\s*[=:]|['"]\s{0,20},\s{0,20}['"])\s*\S/i,
  },
  {
    name: 'name before a value',
    pattern:
      /(?<shown>(?:passw(?:or)?d|pass[-_ ]?phrase|pass[-_ ]?code|pwd|token|secret(?:[-_]key(?:[-_]base)?)?|credential|cookie|(?:api|access|private|license|licence|signing|encryption|master|auth|ssh)[-_ ]?key)s?)(?:['"]?\s+\S|[^\w\s./-]{1,20}\s{0,20}[^\s./-])/i,
  },
  {
    name: 'name in another language',
    pattern:
      /(?<shown>passwor[dt]|kennwort|zugangsdaten|losung|wachtwoord|mot de passe|contrase(?:ñ|n)a|senha|parola|has[lł]o|heslo|jelsz[oó]|l[oö]senord|adgangskode|passord|salasana|[sş]ifre|парол[ья]|κωδικ[οό]ς|密码|密碼|口令|パスワード|暗証番号|비밀번호|암호|סיסמה|كلمة (?:المرور|السر))['"]?(?:\s{0,20}[^\w\s./-]{1,20}|\s)\s{0,20}\S/i,
  },
  {
    name: 'code of a kind in a sentence',
    pattern:
      /(?<shown>(?:link|linking|guard|login|sign-?in|verification|confirmation|recovery|pairing|two-factor|one-time)\s{1,5}code)(?:\s{1,5}(?:is|was)|['"]?\s{0,20}[=:])\s{0,20}['"]?(?=[A-Z0-9-]{0,10}\d)[A-Z0-9](?:-?[A-Z0-9]){3}/i,
  },
  {
    name: 'code in a sentence',
    pattern:
      /(?<![a-z])(?<shown>code)['"]?(?:\s{0,20}[=:]|\s{1,20}(?:is|was)(?![a-z]))?\s{0,20}['"]?\d(?:[ -]?\d){5,7}(?!\d)/i,
  },
  {
    name: 'words of a wallet',
    pattern: /(?<shown>(?:seed|recovery|backup)[ _-](?:phrase|words|codes?))['"]?\s{0,20}[=:]\s{0,20}\S/i,
  },
  {
    name: 'session or licence',
    pattern:
      /(?<![a-z0-9])(?<shown>s(?:ess(?:ion)?)?[-_ ]?id|licen[cs]e|serial)['"]?\s{0,20}[=:]\s{0,20}['"]?(?=[^\s'"]{0,100}\d)[^\s'"]{8}/i,
  },
  // Whole words only, because other words contain them: compass, author, spin.
  {
    name: 'short name',
    pattern:
      /(?<![a-z0-9])(?<shown>(?:pass|pswd?|pw|psk|bearer|o?auth(?:orization)?|pin|otp|cred(?=s)|identified by)s?)(?![a-z0-9])(?:['"]?[=:\s]+[^=:\s]|(?<=['"]--?[\w-]{1,20})['"]\s{0,20},\s{0,20}['"])/i,
  },
  {
    name: 'name that ends in pass',
    pattern:
      /(?<shown>(?:require|remote|master|root|db|user|admin|my|key|store|trust|cert|pfx|p12|ssh|sudo|vnc|telnet|ldap|bind|sasl|rcon|smtp|imap|mail|s?ftp|http|web|wifi|api|app|bot|proxy|server|host|client|room|join|guest|login|sql|redis|mysql|jdbc|pg|old|new)(?:pass|pw)|masterauth|requirepass|authtok)(?![a-z])(?:['"]?[=:\s]+[^=:\s]|['"]\s{0,20},\s{0,20}['"])/i,
  },
  // Not passes of games and of programs that draw.
  {
    name: 'short name at the end of a longer one',
    pattern:
      /(?<=[a-z0-9])(?<!by|com|tres|sur|[Gg]ame|[Bb]attle|[Ss]eason|[Rr]ender)(?<shown>Pass|Pw|Pin|Creds)['"]?\s{0,20}[=:]\s{0,20}\S/,
  },
  // A space is no separator here (`say keys are fun`). After a colon, as in JSON, only long values match.
  {
    name: 'key that is assigned',
    pattern: /(?<![a-z0-9?&])(?<shown>key|psk|jwt)(?:['"]?\s{0,20}=\s{0,20}\S|['"]?\s{0,20}:\s{0,20}['"]?[\w+/-]{16})/i,
  },
  {
    name: 'key of several words that is assigned',
    pattern: /(?<shown>[a-z0-9]Key)['"]?\s{0,20}(?:=\s{0,20}\S|:\s{0,20}['"]?(?=[A-Za-z_+/-]{0,60}\d)[\w+/-]{16})/,
  },
  { name: 'Authorization header', pattern: /(?<shown>\b(?:basic|digest|negotiate))\s+[\w+/]{8}/i },
  {
    name: 'option of a program that signs in',
    pattern:
      /(?<![\w-])(?<shown>(?:mysql|mariadb|mongo|redis-cli|sshpass|curl|wget|m?c?rcon|psql|sqlcmd|ldapsearch|htpasswd|smbclient|xfreerdp|rdesktop|(?:un)?zip|(?:un)?rar(?!\w)|7z|lftp|skopeo|ipmitool|mosquitto|snmp(?:get|set|walk|bulk)|etcdctl|user(?:add|mod)|mumble|murmurd)[\w.-]{0,20}|(?:docker|podman|helm|az) [\w -]{0,40}login)\s[^\r\n]{0,200}?(?<=\s)-(?:h?p|[auw]|supw(?=\s)|-(?:user|creds)(?![\w-]))/i,
  },
  {
    name: 'argument of a program for keys',
    pattern:
      /(?<![\w-])(?<shown>openssl(?=\s)[^\r\n]{0,200}?\s-k|ssh-keygen(?=\s)[^\r\n]{0,200}?\s-[np]|vault\s{1,5}login|rclone\s{1,5}obscure|sp_addlogin)\s{1,5}\S/i,
  },
  {
    name: 'input of a program that reads a password',
    pattern:
      /(?<shown>(?<![\w-])(?:echo|printf)\s)(?=[^|\n]{1,300}\|[^\n]{0,200}?(?:password-stdin|passwd|sudo\s{1,5}-\w{0,5}S(?!\w)|--stdin|with-token|docker\s{1,5}secret|cryptsetup|kinit))/,
  },
  // Not the banners of programs: `[12:00:01 INFO]: <<< Welcome >>>`.
  { name: 'input of a program in a shell', pattern: /(?<=[\w'"-]\s{0,3})(?<shown><<<(?!<))\s{0,5}\S/ },
  {
    name: 'option of a program for remote desktops',
    pattern: /(?<shown>(?<![\w-])[wx]freerdp[^\r\n]{0,200}?\s['"]?\/p:)\S/i,
  },
  // The match starts at the end of a scheme and does not reach into another address.
  { name: 'password in an address', pattern: /(?<shown>[a-z0-9]:\/\/)[^\s/:@]{0,100}:(?:[^\s@/]|\/(?!\/)){1,300}@/i },
  { name: 'password in a data source of Go', pattern: /(?<![^\s"'`=])[\w.-]{1,60}:\S{1,200}@(?:tcp|unix)\(/i },
  { name: 'token in an address', pattern: /(?<shown>[a-z0-9]:\/\/)[^\s/@]{1,300}@/i },
  {
    name: 'parameter of an address',
    pattern:
      /(?<shown>[?&](?:key|sig|signature|code|auth|session|sid|ticket|invite|hmac|x-amz-(?:signature|credential))=)[^\s&]/i,
  },
  // The address alone gives write access to the channel.
  { name: 'address of a webhook', pattern: /(?<shown>(?<![a-z])(?:web)?hooks?(?:\.[\w.-]{1,80})?\/)[^\s/]/i },
  { name: 'signed token', pattern: /(?<![\w-])eyJ[\w-]{8}/ },
  {
    name: 'key with a known beginning',
    pattern:
      /(?<![A-Za-z0-9])(?:gh[oprsu]_|github_pat_|gl(?:pat|dt|rt|cbt)-|[prsw]k[-_]|whsec_|xox[a-z]-|xapp-|npm_|pypi-|hf_|dop_v1_|hvs\.|tskey-|SG\.|ya29\.|AIza|shpat_|dckr_pat_|glsa_|sntrys_|qd_|AGE-SECRET-KEY-)[\w-]{10}/,
  },
  { name: 'key of AWS', pattern: /(?<![A-Za-z0-9])A(?:KIA|SIA|GPA|IDA|ROA|NPA)[A-Z0-9]{8}/ },
  {
    name: 'token of a chat bot',
    pattern: /(?<![\w-])(?:[MNO][\w-]{22,28}\.[\w-]{5,8}\.[\w-]{20}|\d{8,10}:AA[\w-]{20})/,
  },
  {
    name: 'hash of a password',
    pattern: /\$(?:2[abxy]?|[1567y]|argon2\w{0,2}|scrypt|pbkdf2[\w-]{0,12}|SHA)\$[\w$./=,+]{8}/i,
  },
  // Bytes that a program received: each line begins with its offset and holds a part of them. Node.js prints the first
  // fifty.
  {
    name: 'bytes in hexadecimal digits',
    pattern:
      /(?<![\w.:-])(?<shown>0(?:x[0-9a-f]{2,13}|[0-9a-f]{2,14})[08]|<Buffer)[:|]?\s{1,4}(?:(?:[0-9a-f]{2}){1,8}(?:\s{1,2}|$)){3}/i,
  },
  { name: 'PEM', pattern: /-----BEGIN/ },
  // Lines of a PEM file arrive one by one; a long key looks the same.
  { name: 'long run of Base64', pattern: /(?<![A-Za-z0-9+/])[A-Za-z0-9+/]{60}/ },
  { name: 'end of Base64', pattern: /^[^\S\n]{0,20}[A-Za-z0-9+/]{16,76}={1,2}[^\S\n]{0,20}$/m },
  // The last line of a PEM file, which may be short. Excludes paths, and names or ids of one character class.
  {
    name: 'line of Base64',
    pattern:
      /^[^\S\n]{0,20}(?:> ?)?(?=[^\s\d]{0,59}\d)(?=[^\sA-Z]{0,59}[A-Z])(?=[^\sa-z]{0,59}[a-z])(?!\S{0,59}\/[a-z]{3})[A-Za-z0-9+/]{20,59}[^\S\n]{0,20}$/m,
  },
]

/** In UTF-16 code units. The rest of a longer text counts as a secret. */
const MAX_SCANNED = 128 * 1024

/** Escape sequences of terminals (ECMA-48), and colour codes of game servers. */
const ESCAPES =
  // eslint-disable-next-line no-control-regex -- they begin with the characters of these numbers
  /(?:\u001b\[|\u009b)[0-?]*[ -/]*[@-~]|(?:\u001b\]|\u009d)[^\u0007\u001b\u009c\u009d]*(?:\u0007|\u001b\\|\u009c)|\u001b[ -/]*[0-~]|§[0-9a-fk-orx]/gi

/** Texts in escape sequences, which terminals do not print: titles of windows, addresses of links, copied texts. */
// eslint-disable-next-line no-control-regex -- they begin and end with the characters of these numbers
const HIDDEN_TEXTS = /(\u001b\]|\u009d)([^\u0007\u001b\u009c\u009d]+)/g

export const changeHiddenTexts = (text: string, change: (hidden: string) => string) =>
  text.replace(HIDDEN_TEXTS, (_sequence, begin: string, hidden: string) => begin + change(hidden))
export const escapesIn = (text: string) => text.matchAll(ESCAPES)
export const withoutEscapes = (text: string) => text.replace(ESCAPES, '')

/** Characters that hide a word from the patterns, in addition to escapes and look-alike letters (NFKC). */
// eslint-disable-next-line no-control-regex -- all that are no blanks
const INVISIBLE = /[\u0000-\u0008\u000e-\u001f\u007f-\u009f\p{Default_Ignorable_Code_Point}]/u

/** The time of `normalize` grows with the square of the number of combining characters in a row. */
const PIECES = /[^]{1,256}/gu

const isPlain = (text: string) =>
  (text.match(PIECES) ?? []).every((piece) => piece.normalize('NFKC') === piece) &&
  !INVISIBLE.test(text) &&
  text.search(ESCAPES) === -1

/**
 * In UTF-16 code units. A character that NFKC makes longer stands for a number, a word or a phrase, not for some
 * letters of one. It is kept: with up to 18 units each, a text would take many times as long as its length suggests.
 */
const LONGEST_LETTERS = 3

function foldedCharacter(character: string): string {
  if (INVISIBLE.test(character)) return ''
  const folded = character.normalize('NFKC')
  return folded.length > LONGEST_LETTERS ? character : folded
}

/**
 * Removes escapes and invisible characters, applies NFKC. `origins` maps each UTF-16 code unit to its original offset.
 */
function fold(text: string): { text: string; origins: number[] } {
  let result = ''
  const origins: number[] = []
  const escapes = escapesIn(text)
  let escape = escapes.next().value
  let at = 0
  for (const character of text) {
    while (escape && escape.index + escape[0].length <= at) escape = escapes.next().value
    const isEscape = escape !== undefined && escape.index <= at
    const plain = isEscape ? '' : foldedCharacter(character)
    for (let unit = 0; unit < plain.length; unit++) origins.push(at)
    result += plain
    at += character.length
  }
  origins.push(at)
  return { text: result, origins }
}

/** Returns a text in the form to which the patterns apply. */
export const foldedText = (text: string) => (isPlain(text) ? text : fold(text).text)

/** Returns the end of the part that may be shown. */
function visibleEnd(text: string): number {
  let end = text.length
  for (const { pattern } of secretPatterns) {
    const match = pattern.exec(text)
    if (match) end = Math.min(end, match.index + (match.groups?.shown?.length ?? 0))
  }
  return end
}

/** Returns whether a command may hold a secret. Such a command is kept until the page is reloaded and never stored. */
export function looksSecret(command: string): boolean {
  if (command.length > MAX_SCANNED) return true
  const texts = [command, foldedText(command)]
  return texts.some((text) => secretPatterns.some(({ pattern }) => pattern.test(text)))
}

/** Returns the part of a line that may be shown: up to and including the word that reveals the secret. */
export function withoutSecret(text: string): string {
  const line = text.slice(0, MAX_SCANNED)
  const end = visibleEnd(line)
  if (isPlain(line)) return line.slice(0, end)
  const { text: plain, origins } = fold(line)
  return line.slice(0, Math.min(end, origins[visibleEnd(plain)] ?? 0))
}
