import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import type { Page } from 'playwright-core'
import { SESSION_DAYS } from '../../../src/contract/rules'
import { mongoPath } from '../platform/mongoPath'
import { codeOf, registerAccount } from '../platform/registerAccount'

const ROOT = join(__dirname, '../../..')
const CLOCK = require.resolve('./movableClock')
/** For `npm run bench NAME -- --profile`. The profile is written at an orderly end. */
export const PROFILING = process.env.BENCH_PROFILE ? ['--cpu-prof', `--cpu-prof-dir=${process.env.BENCH_PROFILE}`] : []
export const FIRST_USER = { username: 'ann', password: 'correct horse battery' }

export interface Product {
  /** What browsers open. */
  url: string
  /** Where the platform listens. */
  address: string
  dataDir: string
  inviteCode: string | undefined
  pid(): number
  /** Stops the platform like Ctrl-C. @returns the exit code */
  stop(): Promise<number | null>
  kill(): Promise<void>
  /** Restarts it with the same data and port. */
  restart(): Promise<void>
  /** Moves the platform's clock ahead, until the next restart. */
  passTime(ms: number): Promise<void>
  /** The platform's clock, in milliseconds. */
  now(): number
  /** Stops everything including instances, and removes the data. */
  close(): Promise<void>
}

/**
 * Starts the built product like a user, with a separate data directory and any free port.
 * @param onOutput called with what it prints
 * @param root the checkout whose build is started
 */
export async function startProduct(
  settings: Record<string, string> = {},
  onOutput: (text: string) => void = () => undefined,
  root = ROOT,
): Promise<Product> {
  const dist = join(root, 'dist/platform')
  const dataDir = await mkdtemp(join(tmpdir(), 'quarterdeck-e2e-'))
  const { PATH, HOME } = process.env
  const environment = {
    PATH: mongoPath ?? PATH,
    HOME,
    QUARTERDECK_DATA_DIR: dataDir,
    QUARTERDECK_LOG_LEVEL: 'warn',
    ...settings,
  }
  let child: ChildProcess
  let port = '0'
  let aheadMs = 0

  async function start(): Promise<Pick<Product, 'url' | 'address' | 'inviteCode'>> {
    const platform = spawn(process.execPath, [...PROFILING, '--require', CLOCK, join(dist, 'main.js')], {
      env: { ...environment, QUARTERDECK_PORT: port },
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    })
    child = platform
    aheadMs = 0
    let said = ''
    return new Promise((resolve, reject) => {
      const read = (chunk: Buffer) => {
        said += chunk.toString()
        onOutput(chunk.toString())
        const url = /ready: (http\S+)/.exec(said)?.[1]
        // The greeting ends with an empty line, which follows the invite code.
        const address = /it listens on (http[^\s)]+)/.exec(said)?.[1] ?? url
        if (url && address && said.endsWith('\n\n'))
          resolve({ url, address, inviteCode: /^ {6}(\S+)$/m.exec(said)?.[1] })
      }
      platform.stdout!.on('data', read)
      platform.stderr!.on('data', read)
      platform.once('exit', () => reject(new Error(`The platform did not start: ${said}`)))
    })
  }

  async function end(signal: NodeJS.Signals): Promise<number | null> {
    if (child.exitCode !== null || child.signalCode !== null) return child.exitCode
    const exited = once(child, 'exit')
    child.kill(signal)
    const [code] = (await exited) as [number | null]
    return code
  }

  const first = await start()
  port = new URL(first.address).port
  return {
    ...first,
    dataDir,
    pid: () => child.pid ?? 0,
    stop: () => end('SIGINT'),
    kill: async () => void (await end('SIGKILL')),
    restart: async () => void (await start()),
    async passTime(ms) {
      aheadMs += ms
      const moved = once(child, 'message')
      child.send({ aheadMs })
      await moved
    },
    now: () => Date.now() + aheadMs,
    async close() {
      const stopAll = spawn(process.execPath, [join(dist, 'runtime/local/stopAll.js')], {
        env: { PATH, HOME, QUARTERDECK_DATA_DIR: dataDir },
        stdio: ['ignore', 'pipe', 'pipe'],
      })
      const said = Promise.all([text(stopAll.stdout), text(stopAll.stderr)])
      const [code] = (await once(stopAll, 'exit')) as [number | null]
      if (code !== 0) throw new Error(`stop:all ended with ${code}: ${(await said).join('')}`)
      await rm(dataDir, { recursive: true, force: true })
    },
  }
}

/** Starts a product for the tests of a file, and removes it after them. */
export function useProduct(settings: Record<string, string> = {}): () => Product {
  let product: Product
  beforeAll(async () => {
    product = await startProduct(settings)
  })
  afterAll(() => product.close())
  return () => product
}

/** Registers through the pages with an invite code or link, up to the overview. @returns the shown TOTP secret. */
export async function register(
  page: Page,
  { inviteCode, link, username, password }: { inviteCode?: string; link?: string; username: string; password: string },
): Promise<string> {
  await page.goto(link ?? '/register')
  if (inviteCode !== undefined) await page.getByLabel('Invite code').fill(inviteCode)
  await page.getByRole('button', { name: 'Continue' }).click()
  await page.getByLabel('Username').fill(username)
  await page.getByLabel('Password', { exact: true }).fill(password)
  await page.getByRole('button', { name: 'Continue' }).click()
  const secret = (await page.locator('.secret code').innerText()).replaceAll(/\s/g, '')
  await page.getByLabel('Verification code').fill(await codeOf(secret))
  // The last digit sends it.
  await page.getByText('Your account has been created successfully. You can now login with your credentials.').waitFor()
  return secret
}

/** Registers through the pages and goes to the overview. */
export async function signUpOnPages(page: Page, product: Product): Promise<void> {
  await register(page, { inviteCode: product.inviteCode ?? '', ...FIRST_USER })
  await page.getByRole('link', { name: 'Open Quarterdeck' }).click()
  await page.getByRole('heading', { name: 'Network Overview', exact: true }).waitFor()
}

/**
 * Like `signUpOnPages`, but through the API, which saves seconds in tests of other features.
 * @returns the TOTP secret
 */
export async function signUp(page: Page, { url, inviteCode }: Product): Promise<string> {
  const { token, secret } = await registerAccount((path, body) => callAuth(page, path, body), inviteCode, FIRST_USER)
  const expires = Date.now() / 1000 + SESSION_DAYS * 86_400
  const cookies = { token, isAdmin: '1' }
  await page
    .context()
    .addCookies(
      Object.entries(cookies).map(([name, value]) => ({ name, value, url, expires, sameSite: 'Strict' as const })),
    )
  await page.goto('/')
  await page.getByRole('heading', { name: 'Network Overview', exact: true }).waitFor()
  return secret
}

async function callAuth(page: Page, path: string, data: object): Promise<Record<string, unknown>> {
  const answer = await page.request.post(`/api/auth/${path}`, { data })
  if (!answer.ok()) throw new Error(`${path}: ${answer.status()} ${await answer.text()}`)
  return ((await answer.json()) as { data: Record<string, unknown> }).data
}
