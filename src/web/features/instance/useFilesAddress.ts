import type { Instance } from '../../../contract/instance'
import { filesAddress } from '../../addresses'
import { networkApi } from '../../api/network'

/**
 * Returns the address of the page with the files of a deployment. A server may send the directory only with the
 * overview and not with the instance. If it is unknown, the default directory of a new deployment is assumed.
 */
export function useFilesAddress(deployment: string, instance: Instance | undefined): string {
  const { known } = networkApi.endpoints.getOverview.useQueryState(undefined, {
    selectFromResult: ({ data }) => ({
      known: data?.sections.find((section) => section.deployment.name === deployment)?.deployment.dataDirectory,
    }),
  })
  const path = instance?.dataDirectory ?? known ?? deployment
  return filesAddress(path)
}
