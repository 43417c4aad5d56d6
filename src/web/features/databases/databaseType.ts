import type { DatabaseType } from '../../../contract/database'

export const types: readonly DatabaseType[] = ['sql', 'mongo']

type Appearance = {
  /** The TYPE of product §8, and of the badge. */
  label: string
  section: string
  /** What `tables` counts. */
  noun: string
  uncounted: string
}

export const appearances: Record<DatabaseType, Appearance> = {
  sql: { label: 'SQL', section: 'SQL Databases', noun: 'table', uncounted: 'Tables unknown' },
  mongo: { label: 'MONGO', section: 'MongoDB Databases', noun: 'collection', uncounted: 'Collections unknown' },
}
