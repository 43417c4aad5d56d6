import type { Code } from './code'
import { code, mapCode } from './code'

/** Encodes all but the unreserved characters of RFC 3986; encodeURIComponent leaves some more. */
export const percentEncoded = (text: string) =>
  // encodeURIComponent throws on a lone surrogate.
  encodeURIComponent(text.replace(/\p{Surrogate}/gu, '\ufffd')).replace(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  )

/** Quotes one word for any POSIX shell. If it holds no single quote, PowerShell reads it too. */
export const shellQuoted = (source: Code): Code => code`'${mapCode(source, (text) => text.replaceAll("'", `'\\''`))}'`

/**
 * Quotes a string literal for JavaScript, Java and YAML (1.1 and 1.2): JSON, with the characters escaped that YAML
 * calls non-printable.
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
 * Quotes a YAML string for Spring, which replaces `${…}` in every value: the dollar is therefore inserted by a
 * placeholder. A backslash before the dollar becomes part of the placeholder, since newer versions of Spring treat it
 * as an escape.
 */
export const springQuoted = (source: Code): Code =>
  quoted(
    mapCode(source, (text) =>
      text.replace(/(?<!\\)(\\*)\$(?=\{)/g, (dollar) => '${quarterdeck.literal:' + dollar + '}'),
    ),
  )
