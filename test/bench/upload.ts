import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { statSync } from 'node:fs'
import { request } from 'node:http'
import { join } from 'node:path'
import { performance } from 'node:perf_hooks'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { signUpByCalls } from '../support/browser/productCalls'
import { startProduct } from '../support/browser/startProduct'
import { cpuSeconds, memoryOf } from './figures/processUse'
import { median, report } from './figures/report'
import { root } from './figures/root'

/**
 * Uploads of a gibibyte, in turns with the same body sent to a server of bare node:http that writes and flushes it: how
 * fast, how much CPU time each server takes, and how much memory of the platform.
 */
const BYTES = 2 ** 30
const TURNS = 3
const BARE = `
  require('node:http')
    .createServer((request, response) =>
      require('node:stream').pipeline(request, require('node:fs').createWriteStream(process.argv[1], { flush: true }), () => {
        response.statusCode = 201
        response.end()
      }),
    )
    .listen(0, '127.0.0.1', function () { process.send(this.address().port) })`
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

/** Uploads a gibibyte. @returns the seconds that passed, and those of CPU time of the server */
async function timed(url: string, token: string, pid: number): Promise<{ seconds: number; cpu: number }> {
  const cpuBefore = cpuSeconds(pid)
  const begun = performance.now()
  await upload(url, token, 'large', BYTES)
  return { seconds: (performance.now() - begun) / 1000, cpu: cpuSeconds(pid) - cpuBefore }
}

async function main(): Promise<void> {
  const product = await startProduct({ QUARTERDECK_SAMPLE: 'off' }, undefined, root)
  const bareFile = join(product.dataDir, 'bare')
  const bare = spawn(process.execPath, ['-e', BARE, bareFile], { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] })
  try {
    const [port] = (await once(bare, 'message')) as [number]
    const { token } = await signUpByCalls(product)
    for (const url of [product.url, `http://127.0.0.1:${port}`]) await upload(url, token, 'warm', CHUNK.length * 16)
    const before = memoryOf(product.pid())
    let most = before
    const watch = setInterval(() => (most = Math.max(most, memoryOf(product.pid()))), 50)
    const ours: { seconds: number; cpu: number }[] = []
    const theirs: typeof ours = []
    for (let turn = 0; turn < TURNS; turn += 1) {
      ours.push(await timed(product.url, token, product.pid()))
      theirs.push(await timed(`http://127.0.0.1:${port}`, token, bare.pid!))
    }
    clearInterval(watch)
    if (statSync(join(product.dataDir, 'nfsshare/large')).size !== BYTES) throw new Error('The file is not whole')
    const of = (figure: 'seconds' | 'cpu', turns: typeof ours) => median(turns.map((turn) => turn[figure]))
    report({
      what: 'upload of 1 GiB',
      value: BYTES / 1e6 / of('seconds', ours),
      unit: 'MB/s',
      budget: 600,
      atLeast: true,
    })
    report({
      what: 'upload of 1 GiB, of bare node:http',
      value: of('seconds', theirs) / of('seconds', ours),
      unit: 'times',
    })
    report({
      what: 'upload of 1 GiB, CPU, of bare node:http',
      value: of('cpu', ours) / of('cpu', theirs),
      unit: 'times',
    })
    report({ what: 'upload of 1 GiB, growth of memory', value: most - before, unit: 'MB', budget: 50 })
  } finally {
    bare.kill()
    await product.stop()
    await product.close()
  }
}

void main()
