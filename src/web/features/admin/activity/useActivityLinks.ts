import type { ActivityEntry } from '../../../../contract/admin'
import { configurationAddress, userAddress } from '../../../addresses'
import { useGetUsersQuery } from '../../../api/admin'
import { useGetDeploymentsQuery } from '../../../api/deployments'

export type FindLinks = {
  /** The page of a user, if there still is one of this name. */
  userLink: (username: string) => string | undefined
  /** The page of an entry's subject, if it has one and the console does not know that it is gone. */
  subjectLink: (entry: Pick<ActivityEntry, 'kind' | 'action' | 'subject'>) => string | undefined
}

export function useActivityLinks(): FindLinks {
  const { data: users } = useGetUsersQuery()
  const { data: deployments } = useGetDeploymentsQuery()

  const userLink = (username: string) => {
    const user = users?.find((candidate) => candidate.username === username)
    return user && userAddress(user.id)
  }
  return {
    userLink,
    subjectLink({ kind, action, subject }) {
      if (subject === null) return undefined
      switch (kind) {
        case 'deployment':
          return deployments?.some(({ name }) => name === subject) ? configurationAddress(subject) : undefined
        case 'file':
          return action.startsWith('deleted')
            ? undefined
            : directoryLink(action === 'moved' ? targetOf(subject) : subject)
        case 'database':
          return action.startsWith('deleted') ? undefined : '/databases'
        case 'invite':
          return '/admin?tab=invites'
        case 'user':
        case 'session':
          return userLink(subject)
        default:
          return undefined
      }
    },
  }
}

/** The new path of what was moved. The subject is `/nfsshare/a to /nfsshare/b`. */
const targetOf = (subject: string) => subject.replace(/^.* to (?=\/nfsshare\/)/s, '')

/**
 * The directory that a path of the shared area is in.
 * @param paths one path, or those of an upload of several files, separated by commas
 */
function directoryLink(paths: string): string | undefined {
  const [root, ...names] = paths
    .replace(/, \/nfsshare\/.*/s, '')
    .split('/')
    .slice(1)
  if (root !== 'nfsshare') return undefined
  return ['/files', ...names.slice(0, -1).map(encodeURIComponent)].join('/')
}
