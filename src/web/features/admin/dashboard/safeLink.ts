/** Returns the URL of a host from the server's response, or undefined if it is not a web address. */
export function safeLink(host: string): string | undefined {
  const text = host.trim()
  if (text === '') return undefined
  try {
    const url = new URL(/^[a-z][a-z0-9+.-]*:\/\//i.test(text) ? text : `https://${text}`)
    const isWeb = url.protocol === 'http:' || url.protocol === 'https:'
    return isWeb && url.username === '' && url.password === '' ? url.href : undefined
  } catch {
    return undefined
  }
}
