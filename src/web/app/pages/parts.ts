import { accountPart } from './accountPart'
import { adminPart } from './adminPart'
import { consolePart } from './consolePart'
import { databasesPart } from './databasesPart'
import { deploymentsPart } from './deploymentsPart'
import { filesPart } from './filesPart'
import { headerPart } from './headerPart'
import { overviewPart } from './overviewPart'
import type { Part } from './part'
import { registrationPart } from './registrationPart'

/** The reducers of all parts, for replay. A page loads its own part only (withPart.tsx). */
export const lateReducers: Part['reducers'] = {
  ...accountPart.reducers,
  ...adminPart.reducers,
  ...consolePart.reducers,
  ...databasesPart.reducers,
  ...deploymentsPart.reducers,
  ...filesPart.reducers,
  ...headerPart.reducers,
  ...overviewPart.reducers,
  ...registrationPart.reducers,
}
