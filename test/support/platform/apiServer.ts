import { once } from 'node:events'
import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createClusterClient, type ClusterClient } from '../../../src/platform/runtime/kubernetes/clusterClient'
import { writeKubeconfig } from './kubeconfig'

export interface ApiServer {
  server: Server
  /** A client of it, for the namespace `games`. */
  client: ClusterClient
  /** Also ends requests that are not answered yet. */
  close(): void
}

/**
 * Starts a server that answers the requests for a cluster as the test wants.
 * @param directory for the kubeconfig of its client
 */
export async function startApiServer(directory: string, answer: RequestListener): Promise<ApiServer> {
  const server = createServer(answer).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const kubeconfig = writeKubeconfig(directory, { server: `http://127.0.0.1:${port}` })
  return {
    server,
    client: createClusterClient({ kubeconfig }, 'games'),
    close() {
      server.close()
      server.closeAllConnections()
    },
  }
}
