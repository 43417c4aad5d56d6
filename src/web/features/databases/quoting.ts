import type { Code } from './code'
import { code, mapCode } from './code'

/** RFC 3986: all but the unreserved characters, also those that encodeURIComponent leaves and shells do not. */
export const percentEncoded = (text: string) =>
  // Half of a surrogate pair is no character: nothing could encode it.
  encodeURIComponent(text.replace(/\p{Surrogate}/gu, '\ufffd')).replace(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  )

/** One word for any POSIX shell, and while there is no quote in it for PowerShell too. */
export const shellQuoted = (source: Code): Code => code`'${mapCode(source, (text) => text.replaceAll("'", `'\\''`))}'`

/**
 * A string literal that JavaScript, Java and YAML (1.1 and 1.2) read alike: JSON's, in which YAML wants some more
 * characters escaped that are not to be printed.
 */
export const quoted = (source: Code): Code =>
  code`"${mapCode(source, (text) =>
    JSON.stringify(text)
      .slice(1, -1)
      .replace(
        /[\u007f-\u009f\u2028\u2029\ufeff\ufffe\uffff]/g,
        (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
      ),
  )}"`

/**
 * A YAML string for Spring, which replaces `${…}` in whatever it reads: the dollar is put in by a placeholder of its
 * own. A backslash before it goes along, since newer versions take it for an escape.
 */
export const springQuoted = (source: Code): Code =>
  quoted(
    mapCode(source, (text) =>
      text.replace(/(?<!\\)(\\*)\$(?=\{)/g, (dollar) => '${quarterdeck.literal:' + dollar + '}'),
    ),
  )
