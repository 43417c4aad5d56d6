import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { PROFILING } from '../support/browser/startProduct'
import { load } from './figures/load'
import { report } from './figures/report'
import { root } from './figures/root'

/**
 * The overview's call with 1,000 instances that a runtime of this program tells, in 10 and in 100 deployments: one
 * operator, a response with everything, and one for a client that has it.
 */
const INSTANCES = 1000
const ROUND_MS = 4000

interface Served {
  url: string
  token: string
}

async function measure(deployments: number, budget: number): Promise<void> {
  const server = spawn(
    process.execPath,
    [
      ...PROFILING,
      '--import',
      'tsx',
      join(__dirname, 'figures/imitatedNetwork.ts'),
      root,
      String(deployments),
      String(INSTANCES),
    ],
    { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] },
  )
  try {
    const [{ url, token }] = (await Promise.race([
      once(server, 'message'),
      once(server, 'exit').then(() => Promise.reject(new Error('The server did not start'))),
    ])) as [Served]
    const headers = { authorization: `Bearer ${token}` }
    const address = `${url}/api/deployments?instances=true`
    // One call at a time, each long after the last one, as polls are.
    const poll = (more: Record<string, string> = {}) =>
      load(address, { connections: 1, pauseMs: 300, ms: ROUND_MS, headers: { ...headers, ...more } })
    await load(address, { connections: 1, ms: 1000, headers })
    const whole = await poll()
    const name = `overview of 1,000 instances in ${deployments} deployments`
    report({ what: name, value: whole.p50, unit: 'ms', budget })
    report({ what: `${name}, p99`, value: whole.p99, unit: 'ms' })
    const etag = (await fetch(address, { headers })).headers.get('etag')
    if (etag === null) return
    const unchanged = await poll({ 'if-none-match': etag })
    report({ what: `${name}, unchanged`, value: unchanged.p50, unit: 'ms' })
    report({ what: `${name}, unchanged, answer`, value: unchanged.responseBytes, unit: 'bytes', budget: 300 })
  } finally {
    const exited = once(server, 'exit')
    server.kill('SIGTERM')
    await exited
  }
}

async function main(): Promise<void> {
  await measure(10, 10)
  await measure(100, 50)
}

void main()
