import { mkdir, writeFile } from 'node:fs/promises'
import { readFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import type { Product } from '../support/browser/startProduct'
import type { ProductCall } from '../support/browser/productCalls'
import { registerAccount } from '../support/platform/registerAccount'
import { until } from '../support/platform/until'

const PROGRAM = readFileSync(join(__dirname, 'gameServer.js'), 'utf8')
const NAMES = 'Maren,Tobias,Ines,Kofi,Yuki,Priya,Lars,Amara,Diego,Freya,Noor,Anton,Elif,Bruno,Saga,Remy'.split(',')

interface Sample {
  type: 'proxy' | 'persistent' | 'scalable' | 'process'
  description: string
  /** Instances, and players of each. */
  instances?: number
  players?: number
  port?: number
  /** Percent of a core, and MiB. */
  load?: number
  memory?: number
  lines?: string[]
  env?: Record<string, string>
  disabled?: boolean
}

const NETWORK: Record<string, Sample> = {
  proxy: { type: 'proxy', description: 'Where players connect', players: 14, port: 25565, load: 3, memory: 40 },
  lobby: { type: 'scalable', description: 'Where everybody meets', instances: 3, players: 4, port: 25600, load: 1 },
  survival: { type: 'persistent', description: 'The long-lived world', players: 9, port: 25700, load: 6, memory: 220 },
  creative: { type: 'persistent', description: 'Plots and builds', players: 3, port: 25710, load: 2, memory: 120 },
  bedwars: {
    type: 'scalable',
    description: 'Four teams, one bed each',
    instances: 4,
    players: 6,
    port: 25800,
    load: 1.5,
  },
  skyblock: { type: 'scalable', description: 'An island for everyone', instances: 2, players: 5, port: 25850, load: 1 },
  minigames: {
    type: 'scalable',
    description: 'Parkour, spleef and more',
    instances: 1,
    port: 25900,
    lines: ['run: { jar: paper.jar, port: 25900 }'],
  },
  events: { type: 'persistent', description: 'Weekend events', port: 25950, disabled: true },
  'discord-bot': { type: 'process', description: 'Bridges chat to Discord', memory: 30 },
  'stats-collector': { type: 'process', description: 'Writes player statistics', env: { CRASHES: 'yes' } },
}

/** A definition as its text. */
function definitionOf(name: string, node: string, sample: Sample): string {
  const { type, description, instances = 1, players = 0, port, load = 1, memory = 0, env } = sample
  const variables = { PLAYERS: NAMES.slice(0, players).join(','), LOAD: String(load), MEMORY: String(memory), ...env }
  const run = [
    'run:',
    '  command: ["node", "server.js"]',
    ...(port === undefined ? [] : [`  port: ${port}`]),
    `  env: ${JSON.stringify(variables)}`,
  ]
  return [
    `name: ${name}`,
    `type: ${type}`,
    `description: ${description}`,
    `dataDirectory: /${name}`,
    ...(type === 'persistent' ? [`node: ${node}`] : []),
    ...(sample.lines ?? run),
    'stop: { command: stop, timeoutSeconds: 10 }',
    "ready: 'Done \\('",
    ...(type === 'scalable' ? [`instances: { min: ${instances}, max: ${instances + 2}, playersPerInstance: 50 }`] : []),
    `resources: { cpu: ${type === 'process' ? 100 : 200}m, memory: ${type === 'process' ? '256Mi' : '1Gi'} }`,
    '',
  ].join('\n')
}

/** Files beside the program, so that the Files page has something to show. */
const FILES: Record<string, string> = {
  'server.properties': 'motd=Welcome aboard\nmax-players=50\nview-distance=10\nonline-mode=false\n',
  'whitelist.json': '[]\n',
  'ops.json': '[{ "name": "Maren", "level": 4 }]\n',
  'bukkit.yml': 'settings:\n  allow-end: true\n  warn-on-overload: true\n',
  'logs/2026-11-02-1.log': '[10:04:11] [Server thread/INFO]: Done (4.2s)!\n',
  'plugins/chat/config.yml': 'format: "<{name}> {message}"\n',
  'plugins/economy/config.yml': 'currency: doubloon\nstart: 100\n',
  'world/level.dat': '\u0000\u0001level',
}

/**
 * Fills a new product with a network of deployments, files, databases, users and invite codes, and waits until it runs.
 * @param call with the session of an administrator
 */
export async function makeSampleNetwork(product: Product, call: ProductCall): Promise<void> {
  const share = join(product.dataDir, 'nfsshare')
  const node = hostname()
  for (const [name, sample] of Object.entries(NETWORK)) {
    const { type, disabled = false } = sample
    await call('POST', 'deployments', { name, type, ...(type === 'persistent' && { node }) })
    for (const [path, content] of Object.entries({ ...(type === 'process' ? {} : FILES), 'server.js': PROGRAM })) {
      const file = join(share, name, path)
      await mkdir(join(file, '..'), { recursive: true })
      await writeFile(file, content)
    }
    await call('PATCH', `deployments/${name}`, { content: definitionOf(name, node, sample) })
    if (!disabled) await call('POST', `deployments/${name}/toggle`, { enabled: true })
  }
  for (const name of ['players', 'economy', 'statistics']) await call('POST', 'database/sql', { name })
  for (const message of ['For Tobias, who helps with builds', 'New moderators', 'Ines'])
    await call('POST', 'invite-codes', { message })
  const { code } = await call('POST', 'invite-codes', { message: 'Kofi, moderator' })
  const account = { username: 'kofi', password: 'correct horse battery' }
  await registerAccount((path, body) => call('POST', `auth/${path}`, body), code, account)
  await call('POST', 'keys', { name: 'Nightly restart', scopes: ['read', 'power'] })
  await until(
    async () => (await call<{ instances: { state: string }[] }>('GET', 'deployments/survival/instances')).instances,
    (instances) => instances.some(({ state }) => state === 'RUNNING'),
  )
}
