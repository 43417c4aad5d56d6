import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { performance } from 'node:perf_hooks'
import { Agent, request } from 'node:http'
import { startProduct } from '../support/browser/startProduct'
import { signUpByCalls } from '../support/browser/productCalls'

/** Listings of the shared area over HTTP: latency and throughput. */
async function main(): Promise<void> {
  const product = await startProduct({ QUARTERDECK_SAMPLE: 'off' })
  const agent = new Agent({ keepAlive: true, maxSockets: 16 })
  try {
    const share = join(product.dataDir, 'nfsshare')
    const { token } = await signUpByCalls(product)
    for (const count of [50, 10_000, 100_000]) {
      await mkdir(join(share, `d${count}`))
      for (let at = 0; at < count; at += 500)
        await Promise.all(
          Array.from({ length: Math.min(500, count - at) }, (_, index) =>
            writeFile(join(share, `d${count}`, `file-${at + index}.txt`), 'hello\n'),
          ),
        )
    }
    const list = (count: number) =>
      get(agent, `${product.url}/api/sftp/files?path=${encodeURIComponent(`/nfsshare/d${count}`)}`, token)
    for (const [count, rounds] of [
      [50, 500],
      [10_000, 200],
      [100_000, 20],
    ] as const) {
      const first = await timed(() => list(count))
      // Listings are cached from the second request on.
      await list(count)
      const times: number[] = []
      for (let round = 0; round < rounds; round += 1) times.push(await timed(() => list(count)))
      const changed: number[] = []
      for (let round = 0; round < 10; round += 1) {
        await writeFile(join(share, `d${count}`, `new-${round}.txt`), 'hello\n')
        changed.push(await timed(() => list(count)))
      }
      for (const some of [times, changed]) some.sort((one, other) => one - other)
      console.log(
        `${count} entries: first ${first.toFixed(1)} ms, then p50 ${at(times, 0.5)} ms, p99 ${at(times, 0.99)} ms, longest ${at(times, 1)} ms; after a change p50 ${at(changed, 0.5)} ms, longest ${at(changed, 1)} ms`,
      )
    }
    for (const [count, total] of [
      [50, 5000],
      [10_000, 500],
    ] as const) {
      const begun = performance.now()
      let left = total
      await Promise.all(
        Array.from({ length: 16 }, async () => {
          while ((left -= 1) >= 0) await list(count)
        }),
      )
      console.log(
        `${count} entries, 16 at a time: ${Math.round((total / (performance.now() - begun)) * 1000)} listings a second`,
      )
    }
  } finally {
    agent.destroy()
    await product.stop()
    await product.close()
  }
}

const at = (sorted: number[], part: number) =>
  (sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? NaN).toFixed(1)

async function timed(work: () => Promise<unknown>): Promise<number> {
  const begun = performance.now()
  await work()
  return performance.now() - begun
}

function get(agent: Agent, url: string, token: string): Promise<number> {
  return new Promise((resolve, reject) => {
    request(url, { agent, headers: { authorization: `Bearer ${token}` } }, (answer) => {
      let bytes = 0
      answer.on('data', (chunk: Buffer) => (bytes += chunk.length))
      answer.on('end', () =>
        answer.statusCode === 200 ? resolve(bytes) : reject(new Error(`status ${answer.statusCode}`)),
      )
    })
      .on('error', reject)
      .end()
  })
}

void main()
