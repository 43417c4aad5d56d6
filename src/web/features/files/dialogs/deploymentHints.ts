import type { Deployment } from '../../../../contract/deployment'
import type { EntryRef } from '../../../api/files'
import { SHARED_ROOT } from '../../../../contract/pageRules'
import { joinPath } from '../sharedPath'

const directoryOf = ({ dataDirectory }: Deployment) =>
  dataDirectory.split('/').filter(Boolean).reduce(joinPath, SHARED_ROOT)

/** Returns a sentence for each deployment whose directory is, or is inside, one of these directories. */
export const deploymentHints = (directories: readonly EntryRef[], deployments: readonly Deployment[]) =>
  directories.flatMap(({ path, name }) =>
    deployments.flatMap((deployment) => {
      const used = directoryOf(deployment)
      if (used === path) return `"${name}" is the directory of the deployment ${deployment.name}`
      return used.startsWith(`${path}/`) ? `"${name}" holds the directory of the deployment ${deployment.name}` : []
    }),
  )
