import { statSync } from 'node:fs'
import { request } from 'node:http'
import { join } from 'node:path'
import { performance } from 'node:perf_hooks'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { signUpByCalls } from '../support/browser/productCalls'
import { startProduct } from '../support/browser/startProduct'
import { memoryOf } from './figures/processUse'
import { report } from './figures/report'
import { root } from './figures/root'

/** One upload of a gibibyte: how fast, and how much memory of the platform it takes. */
const BYTES = 2 ** 30
const CHUNK = Buffer.alloc(2 ** 18, 7)
const BOUNDARY = 'quarterdeck-bench'

function* form(name: string, bytes: number): Generator<Buffer> {
  const part = (text: string) => Buffer.from(`--${BOUNDARY}\r\ncontent-disposition: form-data; ${text}`)
  yield part('name="path"\r\n\r\n/nfsshare\r\n')
  yield part(`name="files"; filename="${name}"\r\ncontent-type: application/octet-stream\r\n\r\n`)
  for (let sent = 0; sent < bytes; sent += CHUNK.length) yield CHUNK
  yield Buffer.from(`\r\n--${BOUNDARY}--\r\n`)
}

async function upload(url: string, token: string, name: string, bytes: number): Promise<void> {
  const sending = request(`${url}/api/sftp/upload`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': `multipart/form-data; boundary=${BOUNDARY}` },
  })
  const status = new Promise<number | undefined>((resolve, reject) => {
    sending.on('response', (answer) => answer.resume().on('end', () => resolve(answer.statusCode)))
    sending.on('error', reject)
  })
  await pipeline(Readable.from(form(name, bytes)), sending)
  if ((await status) !== 201) throw new Error(`The upload was answered with ${await status}`)
}

async function main(): Promise<void> {
  const product = await startProduct({ QUARTERDECK_SAMPLE: 'off' }, undefined, root)
  try {
    const { token } = await signUpByCalls(product)
    await upload(product.url, token, 'warm', CHUNK.length * 16)
    const before = memoryOf(product.pid())
    let most = before
    const watch = setInterval(() => (most = Math.max(most, memoryOf(product.pid()))), 50)
    const begun = performance.now()
    await upload(product.url, token, 'large', BYTES)
    const seconds = (performance.now() - begun) / 1000
    clearInterval(watch)
    if (statSync(join(product.dataDir, 'nfsshare/large')).size !== BYTES) throw new Error('The file is not whole')
    report({ what: 'upload of 1 GiB', value: BYTES / 1e6 / seconds, unit: 'MB/s', budget: 600, atLeast: true })
    report({ what: 'upload of 1 GiB, growth of memory', value: most - before, unit: 'MB', budget: 50 })
  } finally {
    await product.stop()
    await product.close()
  }
}

void main()
