import type { DatabaseType } from '../../../contract/database'

export const DATABASE_TYPES: readonly DatabaseType[] = ['sql', 'mongo']

type Appearance = {
  /** TYPE in the texts of product §8, and the text of the badge. */
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
