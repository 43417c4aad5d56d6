import type { Deployment } from '../../../contract/deployment'
import type { Item } from '../../api/files'
import { join, ROOT } from './sharedPath'

const directoryOf = ({ dataDirectory }: Deployment) => dataDirectory.split('/').filter(Boolean).reduce(join, ROOT)

/** Which of these directories deployments work in, in words. */
export const deploymentHints = (directories: readonly Item[], deployments: readonly Deployment[]) =>
  directories.flatMap(({ path, name }) =>
    deployments.flatMap((deployment) => {
      const used = directoryOf(deployment)
      if (used === path) return `"${name}" is the directory of the deployment ${deployment.name}`
      return used.startsWith(`${path}/`) ? `"${name}" holds the directory of the deployment ${deployment.name}` : []
    }),
  )
