import { filesApi, useGetFilesQuery } from '../../../api/files'
import { useAccess } from '../../../api/useAccess'
import { useAppSelector } from '../../../app/hooks'
import { parentPath, resolveDestination } from '../sharedPath'

const MAX_OFFERED = 50

/** The directories that the destination may go on with, as whole destinations; none while they are not known. */
export function useDestinations(directory: string, destination: string): string[] {
  const typed = destination.slice(0, destination.lastIndexOf('/') + 1)
  const base = resolveDestination(directory, typed)
  const { isLimited } = useAccess()
  // A request for a directory that does not exist would be a problem in the log (product §8).
  const exists = useAppSelector((state) => {
    if (base === null) return false
    if (base === directory || (!isLimited && directory.startsWith(`${base}/`))) return true
    const { data } = filesApi.endpoints.getFiles.select(parentPath(base))(state)
    return Boolean(data?.files.some(({ path, type }) => path === base && type === 'd'))
  })
  const { currentData } = useGetFilesQuery(base ?? directory, { skip: !exists })
  return (currentData?.files ?? [])
    .filter(({ type, name }) => type === 'd' && `${typed}${name}`.startsWith(destination))
    .slice(0, MAX_OFFERED)
    .map(({ name }) => typed + name)
}
