import { randomInt } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { signUpByCalls } from '../support/browser/productCalls'
import { startProduct } from '../support/browser/startProduct'
import { createRandom, seedOf } from '../support/platform/fuzz/random'
import { startMixedUse } from '../support/platform/mixedUse'
import { processesOf } from '../support/platform/processesOf'
import { codeOf } from '../support/platform/registerAccount'

/**
 * Kills parts of the product (-9) at random moments of mixed use. Acknowledged changes must survive, and each instance
 * must run once.
 */
const KILLS = Number(process.env.BENCH_KILLS ?? 200)
const seed = seedOf(randomInt(2 ** 31))
const NAMES = ['one', 'two', 'three', 'four']
/** Time allowed for recovery: the longest delay before an instance restarts is a minute. */
const RECOVERY_MS = 120_000

const PROGRAM = "let n = 0; setInterval(() => console.log('line ' + ++n), 20)"

async function main(): Promise<void> {
  console.log(`FUZZ_SEED=${seed}, ${KILLS} kills`)
  const random = createRandom(seed)
  const product = await startProduct({ QUARTERDECK_SAMPLE: 'off' })
  const { url, dataDir } = product
  /** A part of the command of each instance, by which its processes are found. */
  const markOf = (name: string) => join(dataDir, `instance-${name}`)
  const { call, token } = await signUpByCalls(product, 20_000)
  const instanceOf = async (name: string) =>
    ((await call('GET', `deployments/${name}/instances`)).instances as { podName: string; state: string }[])[0]
  const isHealthy = () =>
    fetch(`${url}/api/health`, { signal: AbortSignal.timeout(5000) }).then(
      ({ status }) => status === 200,
      () => false,
    )
  /** Processes of instances only: the processes that run, watch and start them may contain the same text. */
  const instancePids = (name: string) =>
    processesOf(markOf(name)).filter((pid) => /^node\0-e\0/.test(read(`/proc/${pid}/cmdline`)))

  const content = (name: string, version: number) =>
    `name: ${name}\ntype: process\ndescription: version ${version}\ndataDirectory: /${name}\nrun: { command: ["node", "-e", ${JSON.stringify(PROGRAM)}, ${JSON.stringify(markOf(name))}] }\nstop: { timeoutSeconds: 1 }\n`
  for (const name of NAMES) {
    await call('POST', 'deployments', { name, type: 'process' })
    await call('PATCH', `deployments/${name}`, { content: content(name, 0) })
    await call('POST', `deployments/${name}/toggle`, { enabled: true })
  }
  for (const name of ['a.txt', 'b.txt', 'c.txt'])
    await call('POST', 'sftp/file', { path: `/nfsshare/${name}`, content: '' })

  /** Waits until each instance runs once. @returns the time it took in milliseconds; undefined if it timed out */
  async function recovered(): Promise<number | undefined> {
    const begun = Date.now()
    for (let tries = 1; Date.now() - begun < RECOVERY_MS; tries++) {
      if (await isHealthy()) {
        const states = await Promise.all(NAMES.map((name) => instanceOf(name).catch(() => undefined)))
        if (states.every((instance, at) => instance?.state === 'RUNNING' && instancePids(NAMES[at]!).length === 1))
          return Date.now() - begun
        // Five crashes within five minutes block an instance as intended; an operator would start it again.
        for (const [at, instance] of states.entries())
          if (instance?.state === 'BLOCKED' || (tries % 50 === 0 && instance?.state === 'STOPPED'))
            await call('POST', `deployments/${NAMES[at]}/restart`).catch(() => undefined)
      }
      await delay(100)
    }
    return undefined
  }

  const kill = (pids: number[]) =>
    pids.forEach((pid) => {
      try {
        process.kill(pid, 'SIGKILL')
      } catch {
        // The process has just exited.
      }
    })
  const naming = (pattern: RegExp) => processesOf(dataDir).filter((pid) => pattern.test(read(`/proc/${pid}/cmdline`)))
  /** What is killed, by name; each returns false if there is no such process here. */
  const parts: Record<string, () => Promise<boolean>> = {
    async platform() {
      await product.kill()
      await product.restart()
      return true
    },
    // Plain instances share a host process.
    host: async () => killed(naming(/hostMain\.js/)),
    // Contained instances have a monitor each.
    monitor: async () => killed(pickOne(naming(/^[^\0]*conmon\0/))),
    postgres: async () => killed([Number(read(join(dataDir, 'state/postmaster.pid')).split('\n')[0])].filter(Boolean)),
    instance: async () => killed(instancePids(random.pick(NAMES))),
  }
  const pickOne = (pids: number[]) => (pids.length > 0 ? [random.pick(pids)] : [])
  function killed(pids: number[]): boolean {
    kill(pids)
    return pids.length > 0
  }

  const violations: string[] = []
  const tell = (kill: number, what: string, found: string[]) => {
    for (const one of found) {
      violations.push(one)
      console.error(`kill ${kill} (${what}): ${one}`)
    }
  }
  const counts: Record<string, number> = {}
  const took: number[] = []
  try {
    if ((await recovered()) === undefined) throw new Error('The instances did not start')
    const { podName } = (await instanceOf('one'))!
    const use = startMixedUse({
      url,
      dataDir,
      token,
      call,
      codeOf,
      random,
      deployments: NAMES.map((name) => ({ name, content: (version) => content(name, version) })),
      watched: { name: 'one', podName },
    })
    for (let count = 1; count <= KILLS;) {
      await delay(random.int(1500))
      const what = random.pick(Object.keys(parts))
      if (!(await parts[what]!())) continue
      counts[what] = (counts[what] ?? 0) + 1
      const ms = await recovered()
      if (ms === undefined) {
        tell(count, what, [
          `after ${RECOVERY_MS / 1000} s: ${JSON.stringify(await Promise.all(NAMES.map(async (name) => [name, (await instanceOf(name).catch(() => undefined))?.state, instancePids(name)])))}`,
        ])
        break
      }
      took.push(ms)
      tell(
        count,
        what,
        await use
          .violations()
          .catch(async () => {
            // The killed process may have answered the check just before.
            await recovered()
            return use.violations()
          })
          .catch((error: unknown) => [`the check failed: ${String(error)}`]),
      )
      if (count % 10 === 0) console.log(`${count} kills ${JSON.stringify(counts)}, ${violations.length} violations`)
      count += 1
    }
    await use.stop()
    tell(KILLS, 'at the end', await use.violations())
    took.sort((one, other) => one - other)
    console.log(`kills: ${JSON.stringify(counts)}`)
    console.log(`acknowledged: ${JSON.stringify(use.done)}, console lines read: ${use.lines()}`)
    console.log(`until all was well again: median ${took[took.length >> 1]} ms, longest ${took.at(-1)} ms`)
    console.log(violations.length === 0 ? 'nothing was lost, and nothing ran twice' : `${violations.length} violations`)
  } finally {
    await product.stop()
    await product.close()
    kill(NAMES.flatMap(instancePids))
  }
  process.exitCode = violations.length === 0 ? 0 : 1
}

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}

void main()
