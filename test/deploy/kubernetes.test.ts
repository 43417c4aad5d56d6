import { readManifests } from '../support/platform/deployFiles'

const platform = readManifests('kubernetes/platform.yaml')
const access = [...readManifests('kubernetes/access.yaml'), ...readManifests('kubernetes/dashboard/access.yaml')]
const policies = readManifests('kubernetes/network.yaml')
const find = (kind: string) => platform.find((manifest) => manifest.kind === kind)
const pod = find('Deployment')?.spec.template
/** The labels of each Pod of an instance, of a deployment with the worst name. */
const instanceLabels: Record<string, string> = {
  'app.kubernetes.io/managed-by': 'quarterdeck',
  'app.kubernetes.io/name': 'quarterdeck',
  'app.kubernetes.io/instance': 'quarterdeck-1',
}

/** What a role allows, as `verb resource` or `verb resource/name`, sorted. */
function rightsOf(kind: string, name: string): string[] {
  const role = access.find((manifest) => manifest.kind === kind && manifest.metadata.name === name)
  return (role?.rules ?? [])
    .flatMap(({ apiGroups, resources, verbs, resourceNames }) =>
      apiGroups.flatMap((group) =>
        resources.flatMap((resource) =>
          verbs.map((verb) => [verb, [resource, group].filter(Boolean).join('.'), ...(resourceNames ?? [])].join(' ')),
        ),
      ),
    )
    .sort()
}

const selects = (selector: Record<string, string>, labels: Record<string, string>) =>
  Object.entries(selector).every(([name, value]) => labels[name] === value)

test('the service account may do what the runtime needs, and nothing else', () => {
  expect(rightsOf('Role', 'quarterdeck')).toEqual([
    'create pods',
    'create pods/attach',
    'create services',
    'delete pods',
    'delete services',
    'get pods/attach',
    'get pods/log',
    'list events',
    'list pods',
    'list pods.metrics.k8s.io',
    'list services',
    'patch pods',
    'patch pods/status',
    'patch services',
    'watch pods',
  ])
  expect(rightsOf('ClusterRole', 'quarterdeck-nodes')).toEqual(['list nodes'])
})

test('the rights for dashboard tokens are a component of their own', () => {
  expect(rightsOf('Role', 'quarterdeck-dashboard')).toEqual([
    'create serviceaccounts',
    'create serviceaccounts/token',
    'delete serviceaccounts',
    'get serviceaccounts',
  ])
  expect(rightsOf('ClusterRole', 'quarterdeck-dashboard')).toEqual([
    'bind clusterroles.rbac.authorization.k8s.io view',
    'create clusterrolebindings.rbac.authorization.k8s.io',
    'delete clusterrolebindings.rbac.authorization.k8s.io',
    'get clusterrolebindings.rbac.authorization.k8s.io',
  ])
})

test('label selectors of the platform match no instances, and those of instances do not match the platform', () => {
  const console = policies.find(({ metadata }) => metadata.name === 'quarterdeck-console')?.spec.podSelector.matchLabels
  const instances = policies.find(({ metadata }) => metadata.name === 'quarterdeck-instances')?.spec.podSelector
    .matchLabels
  const selectors = [
    find('Service')?.spec.selector,
    find('Deployment')?.spec.selector.matchLabels,
    find('PodDisruptionBudget')?.spec.selector.matchLabels,
    console,
  ]
  for (const selector of selectors) {
    expect(selects(selector, pod.metadata.labels)).toBe(true)
    expect(selects(selector, instanceLabels)).toBe(false)
  }
  expect(selects(instances, instanceLabels)).toBe(true)
  expect(selects(instances, pod.metadata.labels)).toBe(false)
})

test('no manifest carries the label of objects that the platform creates and may delete', () => {
  for (const { metadata } of [...platform, ...access, ...policies])
    expect(metadata.labels ?? {}).not.toHaveProperty('app.kubernetes.io/managed-by')
})

test('a Service named quarterdeck sets no variables that are read as settings', () => {
  expect(pod.spec.enableServiceLinks).toBe(false)
})

test('a rolling update ends a replica only when its successor is ready, and gives it time', () => {
  expect(find('Deployment')?.spec).toMatchObject({ replicas: 2, strategy: { rollingUpdate: { maxUnavailable: 0 } } })
  const [container] = pod.spec.containers
  expect(container.readinessProbe.httpGet.path).toBe('/api/health?except=cluster')
  expect(container.livenessProbe.httpGet.path).toBe('/api/health/live')
  // A replica serves on for 5 s after it has become unready.
  expect(container.readinessProbe.periodSeconds * container.readinessProbe.failureThreshold).toBeLessThan(5)
  expect(pod.spec.terminationGracePeriodSeconds).toBe(30)
})

test('the container has no capabilities, no root user and a read-only root file system', () => {
  expect(pod.spec.securityContext).toMatchObject({
    runAsNonRoot: true,
    runAsUser: 10001,
    fsGroup: 10001,
    seccompProfile: { type: 'RuntimeDefault' },
  })
  expect(pod.spec.containers[0].securityContext).toEqual({
    allowPrivilegeEscalation: false,
    readOnlyRootFilesystem: true,
    capabilities: { drop: ['ALL'] },
  })
})
