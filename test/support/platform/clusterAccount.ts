import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse, stringify } from 'yaml'
import type { TestCluster } from './cluster'
import { readManifests } from './deployFiles'

const NAME = 'platform'

/** One right of a role: a verb and a resource, such as `patch pods/status` or `list pods.metrics.k8s.io`. */
export type Right = `${string} ${string}`

interface Rule {
  apiGroups: string[]
  resources: string[]
  verbs: string[]
}

/** The rights that the manifests of `src/deploy` give to the platform: in its namespace, and in the cluster. */
export function deployedRights(): { role: Right[]; clusterRole: Right[] } {
  const access = readManifests('kubernetes/access.yaml')
  const rightsOf = (kind: string) =>
    access
      .filter((manifest) => manifest.kind === kind)
      .flatMap(({ rules = [] }: { rules?: Rule[] }) =>
        rules.flatMap(({ apiGroups, resources, verbs }) =>
          resources.flatMap((resource) =>
            verbs.map((verb): Right => `${verb} ${[resource, ...apiGroups].filter(Boolean).join('.')}`),
          ),
        ),
      )
  return { role: rightsOf('Role'), clusterRole: rightsOf('ClusterRole') }
}

/**
 * Creates a service account in a namespace, with the rights of the manifests.
 * @param directory for its kubeconfig. @param without a right that it does not get. @returns the path of its kubeconfig
 */
export async function createAccount(
  cluster: TestCluster,
  namespace: string,
  directory: string,
  without?: Right,
): Promise<string> {
  const { role, clusterRole } = deployedRights()
  const ruleOf = (right: Right): Rule => {
    const [verb = '', full = ''] = right.split(' ')
    const [resource = '', ...group] = full.split('.')
    return { apiGroups: [group.join('.')], resources: [resource], verbs: [verb] }
  }
  const rbac = 'rbac.authorization.k8s.io'
  const named = { name: NAME, namespace }
  const subjects = [{ kind: 'ServiceAccount', ...named }]
  const global = { name: `${NAME}-${namespace}` }
  const apiVersion = `${rbac}/v1`
  const rulesOf = (rights: Right[]) => rights.filter((right) => right !== without).map(ruleOf)
  const items = [
    { apiVersion: 'v1', kind: 'ServiceAccount', metadata: named },
    { apiVersion, kind: 'Role', metadata: named, rules: rulesOf(role) },
    {
      apiVersion,
      kind: 'RoleBinding',
      metadata: named,
      roleRef: { apiGroup: rbac, kind: 'Role', name: NAME },
      subjects,
    },
    { apiVersion, kind: 'ClusterRole', metadata: global, rules: rulesOf(clusterRole) },
    {
      apiVersion,
      kind: 'ClusterRoleBinding',
      metadata: global,
      roleRef: { apiGroup: rbac, kind: 'ClusterRole', name: global.name },
      subjects,
    },
  ]
  await cluster.create(JSON.stringify({ apiVersion: 'v1', kind: 'List', items }))
  const path = join(directory, `kubeconfig-${namespace}`)
  writeTokenConfig(cluster, path, await tokenOf(cluster, namespace, NAME))
  return path
}

/** A token of a service account, for an hour. */
export async function tokenOf(cluster: TestCluster, namespace: string, account: string): Promise<string> {
  return (await cluster.kubectl('-n', namespace, 'create', 'token', account, '--duration=1h')).trim()
}

/** Writes a kubeconfig that signs in to the cluster with a token and nothing else. */
export function writeTokenConfig(cluster: TestCluster, path: string, token: string): void {
  const config = parse(readFileSync(cluster.kubeconfig, 'utf8')) as { users: { user: unknown }[] }
  for (const entry of config.users) entry.user = { token }
  writeFileSync(path, stringify(config))
}
