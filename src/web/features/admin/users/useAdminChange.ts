import { useSetAdminMutation } from '../../../api/admin'
import { useReportQuietly } from '../../../api/useReportResult'

/** Makes a user an administrator, or takes these rights away. The switch and its dialog show the same call as busy. */
export function useAdminChange({ id, username, isAdmin }: { id: number; username: string; isAdmin: boolean }) {
  const [setAdmin, { isLoading }] = useSetAdminMutation({ fixedCacheKey: `admin ${id}` })
  const report = useReportQuietly()

  /** @returns whether it succeeded */
  async function change(): Promise<boolean> {
    const result = await setAdmin({ id, is_admin: !isAdmin })
    report(
      result,
      isAdmin ? `${username} is no longer an administrator` : `${username} is now an administrator`,
      isAdmin
        ? `Failed to remove administrator rights from ${username}`
        : `Failed to make ${username} an administrator`,
    )
    return !result.error
  }
  return { change, isLoading }
}
