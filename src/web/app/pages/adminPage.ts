import { AdminTabs } from '../../features/admin/AdminTabs'
import { forAdministrators } from './forAdministrators'

export const AdminPage = forAdministrators(AdminTabs)
