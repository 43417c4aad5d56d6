import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { signUpByCalls } from '../support/browser/productCalls'
import { startProduct } from '../support/browser/startProduct'
import { load } from './figures/load'
import { report } from './figures/report'
import { root } from './figures/root'

/** Listings of a directory of 50 entries, over 10 connections. `listings.ts` has larger ones. */
const ENTRIES = 50

async function main(): Promise<void> {
  const product = await startProduct({ QUARTERDECK_SAMPLE: 'off' }, undefined, root)
  try {
    const { token } = await signUpByCalls(product)
    const directory = join(product.dataDir, 'nfsshare/fifty')
    await mkdir(directory)
    for (let entry = 0; entry < ENTRIES; entry += 1) await writeFile(join(directory, `file-${entry}.txt`), 'hello\n')
    const list = (ms: number) =>
      load(`${product.url}/api/sftp/files?path=/nfsshare/fifty`, { ms, headers: { authorization: `Bearer ${token}` } })
    await list(1000)
    const { perSecond, p99, failed } = await list(5000)
    if (failed > 0) throw new Error(`${failed} calls failed`)
    report({ what: 'listing of 50 entries', value: perSecond, unit: '/s', budget: 4000, atLeast: true })
    report({ what: 'listing of 50 entries, p99', value: p99, unit: 'ms' })
  } finally {
    await product.stop()
    await product.close()
  }
}

void main()
