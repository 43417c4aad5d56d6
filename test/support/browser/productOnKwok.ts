import { randomBytes } from 'node:crypto'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pino from 'pino'
import { startEmbeddedPostgres } from '../../../src/platform/postgres/embeddedPostgres'
import { codeOf, startProduct, type Product } from './startProduct'
import { createNamespace, hasCluster, startCluster, type TestCluster } from '../platform/cluster'

export const NAMESPACE = 'network'

export interface ProductOnKwok {
  cluster: TestCluster
  /** Starts one more replica. @param onOutput called with what it prints, at the level `debug` */
  start(onOutput?: (text: string) => void): Promise<Product>
  close(): Promise<void>
}

/** Prepares a cluster with faked nodes, a PostgreSQL server and a shared area for replicas of the built product. */
export async function prepareKwok(nodes: number): Promise<ProductOnKwok> {
  if (!hasCluster) throw new Error('QUARTERDECK_TEST_CLUSTER names no folder with up.sh')
  const directory = mkdtempSync(join(tmpdir(), 'bench-'))
  for (const name of ['postgres', 'share']) mkdirSync(join(directory, name))
  const key = randomBytes(32).toString('hex')
  const products: Product[] = []
  const cluster = await startCluster('--kwok', '--nodes', String(nodes))
  const server = await startEmbeddedPostgres(join(directory, 'postgres'), 'databases', pino({ level: 'error' }))
  await createNamespace(cluster, NAMESPACE, join(directory, 'share'))
  return {
    cluster,
    async start(onOutput) {
      const dataDir = mkdtempSync(join(directory, 'data-'))
      writeFileSync(join(dataDir, 'secret.key'), key, { mode: 0o600 })
      const product = await startProduct(
        {
          KUBECONFIG: cluster.kubeconfig,
          QUARTERDECK_RUNTIME: 'kubernetes',
          QUARTERDECK_NAMESPACE: NAMESPACE,
          QUARTERDECK_IMAGE: 'any',
          QUARTERDECK_STATE_URL: server.adminUrl,
          QUARTERDECK_SQL_URL: server.adminUrl,
          QUARTERDECK_DATA_DIR: dataDir,
          QUARTERDECK_SHARE_DIR: join(directory, 'share'),
          QUARTERDECK_SAMPLE: 'off',
          QUARTERDECK_LOG_LEVEL: 'debug',
        },
        onOutput,
      )
      products.push(product)
      return product
    },
    async close() {
      for (const product of products) {
        await product.stop()
        await product.close()
      }
      await server.stop()
      await cluster.stop()
      rmSync(directory, { recursive: true, force: true })
    },
  }
}

export type ProductCall = <Data>(method: string, path: string, body?: unknown, url?: string) => Promise<Data>

/** @returns calls the product, or another replica at `url`, with the session of a new administrator */
export async function signUpByCalls({ url, inviteCode }: Product): Promise<ProductCall> {
  let token = ''
  const call: ProductCall = async <Data>(method: string, path: string, body?: unknown, at = url) => {
    const answer = await fetch(`${at}/api/${path}`, {
      method,
      headers: { authorization: `Bearer ${token}`, ...(body !== undefined && { 'content-type': 'application/json' }) },
      signal: AbortSignal.timeout(60_000),
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
  const code = await codeOf(secret)
  const login = await post('verify-registration', { username: account.username, token: code, inviteToken })
  token = login.loginToken ?? ''
  return call
}

/** Creates an enabled deployment. @param lines of its definition, besides name, type and directory */
export async function createEnabled(
  call: ProductCall,
  name: string,
  type: 'persistent' | 'scalable',
  lines: string,
  node?: string,
): Promise<void> {
  await call('POST', 'deployments', { name, type, ...(node !== undefined && { node }) })
  const placed = node === undefined ? '' : `node: ${node}\n`
  const content = `name: ${name}\ntype: ${type}\ndataDirectory: /${name}\n${placed}run: { command: [run], port: 25565 }\n${lines}`
  await call('PATCH', `deployments/${name}`, { content })
  await call('POST', `deployments/${name}/toggle`, { enabled: true })
}

export type Overview = { name: string; instances: { podName: string; state: string }[] }[]

export async function overviewOf(call: ProductCall, url?: string): Promise<Overview> {
  return (await call<{ deployments: Overview }>('GET', 'deployments?instances=true', undefined, url)).deployments
}
