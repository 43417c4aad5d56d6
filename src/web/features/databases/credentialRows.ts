import type { ShownCredentials } from '../../api/databases'

type Row = { key: string; label: string; text: string; isSecret: boolean }

/** What every server tells, in the order in which clients ask for it. */
const known = { username: 'Username', password: 'Password', host: 'Host', port: 'Port', database: 'Database' }

/** Whatever else a server sends is shown as it is, under its own name (product §3). */
export function credentialRows(credentials: ShownCredentials): Row[] {
  // The connection string is the other tab's.
  const { connectionString: _, ...shown } = credentials
  const others = Object.keys(shown).filter((key) => !(key in known))
  const keys = [...Object.keys(known).filter((key) => key !== 'database' || key in shown), ...others]
  return keys.map((key) => {
    const text = textOf(shown[key])
    return {
      key,
      label: known[key as keyof typeof known] ?? labelOf(key),
      text,
      isSecret: isSecret(key, text, credentials.password),
    }
  })
}

function textOf(value: unknown): string {
  if (value === undefined || value === null) return ''
  return typeof value === 'string' ? value : JSON.stringify(value)
}

/** `replicaSet` and `replica_set` read as `Replica set`. */
function labelOf(key: string) {
  const words = key
    .replaceAll(/([a-z\d])([A-Z])/g, '$1 $2')
    .replaceAll(/[_-]+/g, ' ')
    .toLowerCase()
  return words.charAt(0).toUpperCase() + words.slice(1)
}

/** What is called like a secret, or has the password in it. */
const isSecret = (key: string, text: string, password: string | undefined) =>
  /pass|pwd|secret|token|key|credential|ur[il]$|string$/i.test(key) || Boolean(password && text.includes(password))
