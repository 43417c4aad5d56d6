export interface MongoUrl {
  scheme: 'mongodb' | 'mongodb+srv'
  /** At least one. IPv6 addresses are in brackets. */
  hosts: { host: string; port?: number }[]
  options: URLSearchParams
}

/**
 * Parses a connection string by MongoDB's specification, because one with several hosts (a replica set) is no valid
 * URL.
 * @returns undefined if it is invalid
 */
export function parseMongoUrl(text: string): MongoUrl | undefined {
  const [, scheme, list = '', query] =
    /^(mongodb(?:\+srv)?):\/\/(?:[^@/?#\s]*@)?([^@/?#\s]+)(?:\/[^?#\s]*)?(?:\?([^#\s]*))?$/.exec(text) ?? []
  if (scheme !== 'mongodb' && scheme !== 'mongodb+srv') return undefined
  const hosts = list.split(',').flatMap((each) => {
    const [, host, port] = /^(\[[\da-fA-F:.]+\]|[^:[\]]+)(?::(\d{1,5}))?$/.exec(each) ?? []
    return host === undefined ? [] : [{ host, ...(port !== undefined && { port: Number(port) }) }]
  })
  return hosts.length === list.split(',').length ? { scheme, hosts, options: new URLSearchParams(query) } : undefined
}
