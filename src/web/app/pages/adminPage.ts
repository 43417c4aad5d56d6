import { AdminTabs } from '../../features/admin/AdminTabs'
import { adminPart } from './adminPart'
import { forAdministrators } from './forAdministrators'
import { withPart } from './withPart'

export const AdminPage = forAdministrators(withPart(adminPart, AdminTabs))
