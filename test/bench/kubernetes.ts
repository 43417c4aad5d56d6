import { randomBytes } from 'node:crypto'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import pino from 'pino'
import { startEmbeddedPostgres } from '../../src/platform/postgres/embeddedPostgres'
import { codeOf, startProduct, type Product } from '../support/browser/startProduct'
import { createNamespace, hasCluster, startCluster, type TestCluster } from '../support/platform/cluster'

/** The built product with 1,000 instances in 100 deployments on 20 faked nodes (KWOK). */
const DEPLOYMENTS = 100
const INSTANCES = 10
const NODES = 20
const NAMESPACE = 'network'
const STEADY_SECONDS = Number(process.env.BENCH_SECONDS ?? 60)

/** Requests that the API server has answered, by verb and resource. */
async function requestsOf(cluster: TestCluster): Promise<Map<string, number>> {
  const counts = new Map<string, number>()
  for (const line of (await cluster.kubectl('get', '--raw', '/metrics')).split('\n')) {
    const match = /^apiserver_request_total\{(.*)\} (\S+)$/.exec(line)
    const label = (name: string) => new RegExp(`\\b${name}="([^"]*)"`).exec(match?.[1] ?? '')?.[1] ?? ''
    if (!match || !['pods', 'services', 'nodes'].includes(label('resource'))) continue
    const key = [label('verb'), label('resource'), label('subresource')].filter(Boolean).join(' ')
    counts.set(key, (counts.get(key) ?? 0) + Number(match[2]))
  }
  return counts
}

const sorted = (times: number[]) => [...times].sort((one, other) => one - other)
const share = (times: number[], part: number) => sorted(times)[Math.floor((times.length - 1) * part)]?.toFixed(1)

/** @returns calls the product with the session of a new administrator */
async function signUp({ url, inviteCode }: Product) {
  let token = ''
  const call = async <Data>(method: string, path: string, body?: unknown): Promise<Data> => {
    const answer = await fetch(`${url}/api/${path}`, {
      method,
      headers: { authorization: `Bearer ${token}`, ...(body !== undefined && { 'content-type': 'application/json' }) },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    const { data, message } = (await answer.json()) as { data: Data; message?: string }
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${message}`)
    return data
  }
  const post = (path: string, body: unknown) => call<Record<string, string>>('POST', `auth/${path}`, body)
  const account = { username: 'bench', password: 'correct horse battery' }
  const { token: inviteToken } = await post('verify-invite', { inviteCode })
  const { secret = '' } = await post('register', { ...account, inviteToken })
  const login = await post('verify-registration', {
    username: account.username,
    token: await codeOf(secret),
    inviteToken,
  })
  token = login.loginToken ?? ''
  return call
}

async function main(): Promise<void> {
  if (!hasCluster) throw new Error('QUARTERDECK_TEST_CLUSTER names no folder with up.sh')
  const directory = mkdtempSync(join(tmpdir(), 'bench-'))
  const passes: number[] = []
  const read = (text: string) => {
    for (const [, ms] of text.matchAll(/"ms":(\d+),"msg":"the manager has checked the instances"/g))
      passes.push(Number(ms))
  }
  const cluster = await startCluster('--kwok', '--nodes', String(NODES))
  let product: Product | undefined
  for (const name of ['postgres', 'share', 'data']) mkdirSync(join(directory, name))
  const server = await startEmbeddedPostgres(join(directory, 'postgres'), 'databases', pino({ level: 'error' }))
  try {
    await createNamespace(cluster, NAMESPACE, join(directory, 'share'))
    writeFileSync(join(directory, 'data/secret.key'), randomBytes(32).toString('hex'), { mode: 0o600 })
    product = await startProduct(
      {
        KUBECONFIG: cluster.kubeconfig,
        QUARTERDECK_RUNTIME: 'kubernetes',
        QUARTERDECK_NAMESPACE: NAMESPACE,
        QUARTERDECK_IMAGE: 'any',
        QUARTERDECK_STATE_URL: server.adminUrl,
        QUARTERDECK_SQL_URL: server.adminUrl,
        QUARTERDECK_DATA_DIR: join(directory, 'data'),
        QUARTERDECK_SHARE_DIR: join(directory, 'share'),
        QUARTERDECK_SAMPLE: 'off',
        QUARTERDECK_LOG_LEVEL: 'debug',
      },
      read,
    )
    const { pid } = product
    const memory = (name: string) =>
      `${(Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(readFileSync(`/proc/${pid()}/status`, 'utf8'))?.[1]) / 1024).toFixed(0)} MiB`
    const call = await signUp(product)
    console.log(`memory of the platform with nothing to do: ${memory('VmRSS')}`)
    const begunAt = performance.now()
    for (let at = 0; at < DEPLOYMENTS; at++) {
      const name = `lobby-${at}`
      await call('POST', 'deployments', { name, type: 'scalable' })
      const content = `name: ${name}\ntype: scalable\ndataDirectory: /${name}\nrun: { command: [run], port: 25565 }\ninstances: { min: ${INSTANCES}, max: ${INSTANCES} }\n`
      await call('PATCH', `deployments/${name}`, { content })
      await call('POST', `deployments/${name}/toggle`, { enabled: true })
    }
    const overview = () =>
      call<{ deployments: { instances: { state: string }[] }[] }>('GET', 'deployments?instances=true')
    const isRunning = async () =>
      (await overview()).deployments.flatMap(({ instances }) => instances).filter(({ state }) => state === 'RUNNING')
        .length ===
      DEPLOYMENTS * INSTANCES
    while (!(await isRunning())) await delay(1000)
    console.log(`${DEPLOYMENTS * INSTANCES} instances run after ${((performance.now() - begunAt) / 1000).toFixed(0)} s`)

    await delay(10_000)
    const before = await requestsOf(cluster)
    passes.length = 0
    const answers: number[] = []
    for (const end = performance.now() + STEADY_SECONDS * 1000; performance.now() < end; await delay(1000)) {
      const at = performance.now()
      await overview()
      answers.push(performance.now() - at)
    }
    const after = await requestsOf(cluster)
    console.log(`overview's call: p50 ${share(answers, 0.5)} ms, p99 ${share(answers, 0.99)} ms`)
    console.log(`${passes.length} passes of the manager: p50 ${share(passes, 0.5)} ms, p99 ${share(passes, 0.99)} ms`)
    console.log(`memory of the platform: ${memory('VmRSS')}, at most ${memory('VmHWM')}`)
    console.log(`requests to the API server in ${STEADY_SECONDS} s, those of the cluster's own parts included:`)
    for (const [key, count] of after)
      if (count > (before.get(key) ?? 0)) console.log(`  ${key}: ${count - (before.get(key) ?? 0)}`)
  } finally {
    await product?.stop()
    await product?.close()
    await server.stop()
    await cluster.stop()
    rmSync(directory, { recursive: true, force: true })
  }
}

main().then(
  () => process.exit(),
  (error: unknown) => {
    console.error(error)
    process.exit(1)
  },
)
