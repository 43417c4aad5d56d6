import { InstancePage as Page } from '../../features/instance/InstancePage'
import { consolePart } from './consolePart'
import { withPart } from './withPart'

export const InstancePage = withPart(consolePart, Page)
