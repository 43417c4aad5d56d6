import { useMatch, useParams } from 'react-router-dom'
import { KeyList } from '../../features/account/keys/KeyList'
import { ActivityPage } from '../../features/admin/activity/ActivityPage'
import { AdminTabs } from '../../features/admin/AdminTabs'
import { UserPage } from '../../features/admin/user/UserPage'
import { forAdministrators } from './forAdministrators'

/** The pages of three routes in one chunk, because every chunk enlarges the first one, which lists them all. */
export const AdminPage = forAdministrators(function AdminPages() {
  const isActivity = useMatch('/activity')
  const { id } = useParams()
  if (isActivity) return <ActivityPage />
  return id === undefined ? <AdminTabs /> : <UserPage keyList={KeyList} />
})
