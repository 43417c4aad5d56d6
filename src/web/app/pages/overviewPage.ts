import { OverviewPage as Page } from '../../features/overview/OverviewPage'
import { overviewPart } from './overviewPart'
import { withPart } from './withPart'

export const OverviewPage = withPart(overviewPart, Page)
