import { DatabasesPage as Page } from '../../features/databases/DatabasesPage'
import { databasesPart } from './databasesPart'
import { withPart } from './withPart'

export const DatabasesPage = withPart(databasesPart, Page)
