import { spawnSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { Script } from 'node:vm'
import { parse } from 'yaml'
import { readSettings, settings } from '../../src/platform/config'
import { deployPath, readDeployFile, readManifests } from '../support/platform/deployFiles'

const files = readdirSync(deployPath('.'), { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile() && entry.name !== '.env')
  .map((entry) => `${entry.parentPath}/${entry.name}`.slice(deployPath('.').length + 1))

interface Compose {
  services: Record<
    string,
    {
      environment: Record<string, string>
      volumes: string[]
      entrypoint?: string[]
      healthcheck: { test: string[] }
      read_only?: boolean
    }
  >
}

/** The settings in the image. */
const imageSettings = Object.fromEntries(
  [...readDeployFile('Containerfile').matchAll(/(QUARTERDECK_[A-Z_]+)=(\S+)/g)].map(([, name = '', value = '']) => [
    name,
    value,
  ]),
)
const key = 'a'.repeat(64)

test.each(files.filter((name) => name.endsWith('.yaml')))('%s can be parsed', (name) => {
  expect(readManifests(name).length).toBeGreaterThan(0)
})

test.each(files)('%s names only variables that are settings', (name) => {
  const names = readDeployFile(name).match(/\bQUARTERDECK_[A-Z_]+/g) ?? []
  expect(names.filter((found) => !(found in settings))).toEqual([])
})

test('the platform accepts the settings of the image, and listens beyond its container', () => {
  expect(readSettings(imageSettings)).toMatchObject({ host: '0.0.0.0', dataDir: '/data', shareDir: '/share' })
})

test('the platform accepts the settings of the Deployment', () => {
  const [deployment] = readManifests('kubernetes/platform.yaml')
  const [container] = deployment?.spec.template.spec.containers as {
    env: { name: string; value?: string; valueFrom?: { secretKeyRef?: { key: string } } }[]
  }[]
  const [secret] = readManifests('kubernetes/secret.example.yaml') as unknown as {
    stringData: Record<string, string>
  }[]
  const environment = Object.fromEntries(
    (container?.env ?? []).map(({ name, value, valueFrom }) => [
      name,
      value ?? secret?.stringData[valueFrom?.secretKeyRef?.key ?? ''] ?? 'quarterdeck',
    ]),
  )
  expect(readSettings({ ...imageSettings, ...environment })).toMatchObject({
    runtime: 'kubernetes',
    stateUrl: secret?.stringData['state-url'],
  })
  // The example must not be taken for a key.
  expect(secret?.stringData['secret.key']).not.toMatch(/^[0-9a-f]{64}$/)
})

test('the platform accepts the settings of the compose file, whose database it uses', () => {
  const { services } = parse(readDeployFile('compose.yaml')) as Compose
  const environment = Object.fromEntries(
    Object.entries(services.platform?.environment ?? {}).map(([name, value]) => [
      name,
      value.replaceAll(/\$\{POSTGRES_PASSWORD:\?[^}]+\}/g, key),
    ]),
  )
  const read = readSettings({ ...imageSettings, ...environment })
  expect(read.stateUrl).toBe(`postgresql://quarterdeck:${key}@database:5432/quarterdeck`)
  expect(services.database?.environment.POSTGRES_USER).toBe('quarterdeck')
  // Both directories outlive the container.
  expect(services.platform?.volumes).toEqual([`data:${read.dataDir}`, `share:${read.shareDir}`])
  expect(services.platform?.read_only).toBe(true)
})

test('commands of the compose file are lists of texts, and its script has no syntax errors', () => {
  const { services } = parse(readDeployFile('compose.yaml')) as Compose
  const script = services.platform?.entrypoint?.[2] ?? ''
  const check = services.platform?.healthcheck.test ?? []
  for (const command of [services.platform?.entrypoint ?? [], check, services.database?.healthcheck.test ?? []])
    expect(command.map((word) => typeof word)).toEqual(command.map(() => 'string'))
  // Compose replaces `$$` with a dollar sign, and a single one starts a variable of its own.
  expect(script.replaceAll('$$', '')).not.toContain('$')
  expect(spawnSync('sh', ['-n', '-c', script.replaceAll('$$', '$')]).status).toBe(0)
  expect(() => new Script(check[3] ?? '')).not.toThrow()
})

test('security 175: in the systemd service no limit of tasks counts the platform together with its instances', () => {
  expect(readDeployFile('quarterdeck.service')).toMatch(/^TasksMax=infinity$/m)
})

test('the platform accepts the settings of the systemd service', () => {
  const environment = Object.fromEntries(
    [...readDeployFile('quarterdeck.service').matchAll(/^Environment=(\w+)=(.*)$/gm)].map(([, name = '', value]) => [
      name,
      value,
    ]),
  )
  expect(readSettings(environment)).toMatchObject({ dataDir: '/var/lib/quarterdeck' })
})
