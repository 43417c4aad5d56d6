import { ActivityPage as Page } from '../../features/admin/activity/ActivityPage'
import { forAdministrators } from './forAdministrators'

export const ActivityPage = forAdministrators(Page)
