/** Returns a path with its query, without parameters that may be secrets (invite codes, tickets). */
export function withoutSecretParameters(address: string): string {
  const [path = '', query] = address.split('?')
  if (!query || path === '/register') return path
  const plain = query.split('&').filter((parameter) => !/^(?:invite|token|ticket|code)=/i.test(parameter))
  return plain.length > 0 ? `${path}?${plain.join('&')}` : path
}
