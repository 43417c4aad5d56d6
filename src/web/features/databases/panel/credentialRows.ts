import type { ShownCredentials } from '../../../api/databases'

type Row = { key: string; label: string; text: string; isSecret: boolean }

/** Fields that every server sends, in the order in which clients ask for them. */
const known = { username: 'Username', password: 'Password', host: 'Host', port: 'Port', database: 'Database' }

/** Fields that are not known are shown unchanged under their own names (product §3). */
export function credentialRows(credentials: ShownCredentials): Row[] {
  // The connection string has its own tab.
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

/** Turns `replicaSet` and `replica_set` into `Replica set`. */
function labelOf(key: string) {
  const words = key
    .replaceAll(/([a-z\d])([A-Z])/g, '$1 $2')
    .replaceAll(/[_-]+/g, ' ')
    .toLowerCase()
  return words.charAt(0).toUpperCase() + words.slice(1)
}

/** A field is secret if its name suggests it or its value contains the password. */
const isSecret = (key: string, text: string, password: string | undefined) =>
  /pass|pwd|secret|token|key|credential|ur[il]$|string$/i.test(key) || Boolean(password && text.includes(password))
