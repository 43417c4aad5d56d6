import type { Instance } from '../../../contract/instance'
import { filesAddress } from '../../addresses'
import { networkApi } from '../../api/network'

/**
 * Returns the page with the files of a deployment. A server that does not tell the directory with the instance may have
 * told it to the overview, where most users come from; else it is the directory that a new deployment gets.
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
