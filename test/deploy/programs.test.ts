import { execFile, spawnSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { promisify } from 'node:util'
import { clusterTitle, hasCluster, startCluster } from '../support/platform/cluster'
import { hasProgram } from '../support/platform/hasProgram'
import { deployPath, readDeployFile } from '../support/platform/deployFiles'
import { useTemporaryDirectory } from '../support/platform/temporaryDirectory'
import { until } from '../support/platform/until'

jest.setTimeout(1_200_000)
const run = promisify(execFile)
const directory = useTemporaryDirectory()
const check = (program: string, ...args: string[]) => spawnSync(program, args, { encoding: 'utf8' })
const testWith = (isThere: boolean) => (isThere ? test : test.skip)

testWith(hasProgram('systemd-analyze'))('systemd accepts the units (skipped without systemd-analyze)', () => {
  // The unit names the Node.js of Debian; this machine may have another one.
  const service = readDeployFile('quarterdeck.service').replace('/usr/bin/node', process.execPath)
  writeFileSync(join(directory(), 'quarterdeck.service'), service)
  writeFileSync(join(directory(), 'quarterdeck.socket'), readDeployFile('quarterdeck.socket'))
  const units = ['quarterdeck.socket', 'quarterdeck.service'].map((name) => join(directory(), name))
  const { status, stderr } = check('systemd-analyze', 'verify', ...units)
  // Versions before 254 ignore DelegateSubgroup, and say so.
  expect(
    stderr.split('\n').filter((line) => line.includes('quarterdeck') && !line.includes("'DelegateSubgroup'")),
  ).toEqual([])
  expect(status).toBe(0)
})

testWith(hasProgram('nginx') && hasProgram('openssl'))(
  'nginx accepts its configuration (skipped without nginx or openssl)',
  async () => {
    const [key, certificate] = ['key.pem', 'certificate.pem'].map((name) => join(directory(), name)) as [string, string]
    const names = ['-subj', '/CN=console.example.com', '-keyout', key, '-out', certificate]
    await run('openssl', ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '1', ...names])
    const site = readDeployFile('nginx.conf')
      .replace(/\/etc\/letsencrypt\S+fullchain\.pem/, certificate)
      .replace(/\/etc\/letsencrypt\S+privkey\.pem/, key)
    writeFileSync(join(directory(), 'site.conf'), site)
    const main = join(directory(), 'nginx.conf')
    const http = `http { access_log off; include ${join(directory(), 'site.conf')}; }`
    writeFileSync(main, `pid ${join(directory(), 'pid')};\nerror_log stderr;\nevents {}\n${http}\n`)
    const { status, stderr } = check('nginx', '-t', '-c', main)
    expect(stderr).toContain('test is successful')
    expect(status).toBe(0)
  },
)

testWith(hasCluster)(clusterTitle('a cluster accepts the manifests and runs two replicas'), async () => {
  const cluster = await startCluster('--kwok')
  try {
    await checkManifests(cluster.kubectl)
  } finally {
    await cluster.stop()
  }
})

async function checkManifests(kubectl: (...args: string[]) => Promise<string>): Promise<void> {
  await kubectl('apply', '-k', deployPath('kubernetes'))
  await kubectl('apply', '-f', deployPath('kubernetes/secret.example.yaml'))
  // The namespace admits only restricted Pods, so both replicas fulfil that standard.
  const available = [
    '-n',
    'quarterdeck',
    'get',
    'deployment',
    'quarterdeck',
    '-o',
    'jsonpath={.status.availableReplicas}',
  ]
  await until(
    () => kubectl(...available),
    (text) => text === '2',
    60,
  )

  /** @param resource with a subresource after a colon, or a name after a slash */
  const may = async (verb: string, resource: string, namespace = 'quarterdeck') => {
    const account = '--as=system:serviceaccount:quarterdeck:quarterdeck'
    const [kind = '', subresource = ''] = resource.split(':')
    // `kubectl auth can-i` exits with code 1 when it prints `no`.
    const answer = await kubectl(
      'auth',
      'can-i',
      verb,
      kind,
      `--subresource=${subresource}`,
      '-n',
      namespace,
      account,
    ).catch(({ stdout }: { stdout: string }) => stdout)
    return answer.trim()
  }
  expect(await may('create', 'pods')).toBe('yes')
  expect(await may('get', 'pods:log')).toBe('yes')
  expect(await may('list', 'nodes')).toBe('yes')
  for (const [verb, resource] of [
    ['get', 'secrets'],
    ['create', 'pods:exec'],
    ['get', 'nodes:proxy'],
    ['create', 'serviceaccounts:token'],
    ['create', 'clusterrolebindings'],
  ] as const)
    expect([verb, resource, await may(verb, resource)]).toEqual([verb, resource, 'no'])
  expect(await may('list', 'pods', 'kube-system')).toBe('no')

  const overlay = join(directory(), 'overlay')
  mkdirSync(overlay)
  const base = relative(overlay, deployPath('kubernetes'))
  const kinds = 'apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization'
  writeFileSync(
    join(overlay, 'kustomization.yaml'),
    `${kinds}\nresources: [${base}]\ncomponents: [${base}/dashboard]\n`,
  )
  await kubectl('apply', '-k', overlay)
  expect(await may('create', 'serviceaccounts:token')).toBe('yes')
  expect(await may('bind', 'clusterroles/view')).toBe('yes')
  expect(await may('bind', 'clusterroles/cluster-admin')).toBe('no')
}
