import { randomBytes } from 'node:crypto'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pino from 'pino'
import { startEmbeddedPostgres } from '../../../src/platform/postgres/embeddedPostgres'
import { startProduct, type Product } from './startProduct'
import { createNamespace, hasCluster, startCluster, type TestCluster } from '../platform/cluster'

export const NAMESPACE = 'network'

export interface ProductOnKwok {
  cluster: TestCluster
  /** Starts one more replica. @param onOutput called with what it prints; its log has the level `debug` */
  start(onOutput?: (text: string) => void): Promise<Product>
  close(): Promise<void>
}

/** Prepares a cluster with faked nodes, a PostgreSQL server and a shared area for replicas of the built product. */
async function prepareKwok(nodes: number): Promise<ProductOnKwok> {
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

/** Runs a benchmark on a cluster with faked nodes, and ends this process. */
export function runOnKwok(nodes: number, measure: (kwok: ProductOnKwok) => Promise<void>): void {
  prepareKwok(nodes)
    .then((kwok) => measure(kwok).finally(() => kwok.close()))
    .then(
      () => process.exit(),
      (error: unknown) => {
        console.error(error)
        process.exit(1)
      },
    )
}
