/** A path with its query, without what may open a door: invite codes and tickets travel in queries. */
export function plainAddress(address: string): string {
  const [path = '', query] = address.split('?')
  if (!query || path === '/register') return path
  const plain = query.split('&').filter((parameter) => !/^(?:invite|token|ticket|code)=/i.test(parameter))
  return plain.length > 0 ? `${path}?${plain.join('&')}` : path
}
