import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { signUpByCalls } from '../support/browser/productCalls'
import { startProduct } from '../support/browser/startProduct'
import { load, type Load } from './figures/load'
import { median, report } from './figures/report'
import { root } from './figures/root'

/** A call that asks for little, with a session, beside a server of bare node:http, in turns. */
const ROUNDS = 5
const ROUND_MS = 2000
const BARE = `require('node:http')
  .createServer((_request, response) => response.writeHead(200, { 'content-type': 'application/json', 'content-length': 16 }).end('{"success":true}'))
  .listen(0, '127.0.0.1', function () { process.send(this.address().port) })`

async function main(): Promise<void> {
  const bare = spawn(process.execPath, ['-e', BARE], { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] })
  const [port] = (await once(bare, 'message')) as [number]
  const product = await startProduct({ QUARTERDECK_SAMPLE: 'off' }, undefined, root)
  try {
    const { token } = await signUpByCalls(product)
    const headers = { authorization: `Bearer ${token}` }
    const rounds: { alone: Load; call: Load }[] = []
    for (let round = 0; round <= ROUNDS; round += 1) {
      const alone = await load(`http://127.0.0.1:${port}/`, { ms: ROUND_MS })
      const call = await load(`${product.url}/api/network/nodes`, { ms: ROUND_MS, headers })
      if (call.failed > 0) throw new Error(`${call.failed} calls failed`)
      // The first round is cold.
      if (round > 0) rounds.push({ alone, call })
    }
    const of = (value: (round: (typeof rounds)[number]) => number) => median(rounds.map(value))
    report({ what: 'light call', value: of(({ call }) => call.perSecond), unit: '/s' })
    report({
      what: 'light call, of bare node:http',
      value: of(({ call, alone }) => call.perSecond / alone.perSecond),
      unit: '',
      budget: 0.18,
      atLeast: true,
    })
    report({ what: 'light call, p99', value: of(({ call }) => call.p99), unit: 'ms', budget: 2 })
  } finally {
    bare.kill()
    await product.stop()
    await product.close()
  }
}

void main()
