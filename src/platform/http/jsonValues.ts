const [QUOTE, BACKSLASH, COMMA, BRACKET, BRACE] = ['"', '\\', ',', '[', '{'].map((character) => character.charCodeAt(0))

/** Counts commas and opening brackets outside of strings, which is much faster than parsing. */
export function hasMoreValues(text: string, most: number): boolean {
  let count = 1
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at)
    if (code === QUOTE) at = endOfString(text, at)
    else if ((code === COMMA || code === BRACKET || code === BRACE) && (count += 1) > most) return true
  }
  return false
}

/** @returns the index of the closing quote, or the length of the text without one */
function endOfString(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end !== -1; end = text.indexOf('"', end + 1)) {
    let backslashes = 0
    while (text.charCodeAt(end - 1 - backslashes) === BACKSLASH) backslashes += 1
    if (backslashes % 2 === 0) return end
  }
  return text.length
}

/**
 * Whether a JSON text has a string with half of a surrogate pair, which only an escape can make (`"\ud800"`). UTF-8
 * cannot encode it: something else would be stored.
 */
export function hasLoneSurrogate(text: string): boolean {
  if (!/\\u[dD]/.test(text)) return false
  const rest = text.replaceAll(/\\(?:[^u]|u[dD][89abAB][\da-fA-F]{2}\\u[dD][c-fC-F][\da-fA-F]{2})/g, ' ')
  return /\\u[dD][89a-fA-F]/.test(rest)
}
