import { writeFileSync } from 'node:fs'
import { join } from 'node:path'

/**
 * Writes a kubeconfig with one cluster and one user.
 * @returns its path
 */
export function writeKubeconfig(
  directory: string,
  cluster: { server: string; 'certificate-authority-data'?: string },
  user: { token?: string } = {},
  namespace?: string,
): string {
  const file = join(directory, 'kubeconfig')
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    // The client refuses an address without TLS otherwise.
    clusters: [
      { name: 'test', cluster: { ...cluster, 'insecure-skip-tls-verify': cluster.server.startsWith('http:') } },
    ],
    users: [{ name: 'platform', user }],
    contexts: [{ name: 'test', context: { cluster: 'test', user: 'platform', namespace } }],
    'current-context': 'test',
  }
  writeFileSync(file, JSON.stringify(config))
  return file
}
