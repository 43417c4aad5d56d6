import { ActivityPage as Page } from '../../features/admin/activity/ActivityPage'
import { adminPart } from './adminPart'
import { forAdministrators } from './forAdministrators'
import { withPart } from './withPart'

export const ActivityPage = forAdministrators(withPart(adminPart, Page))
