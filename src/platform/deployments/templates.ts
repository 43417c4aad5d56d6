import type { CreateDeployment, DeploymentType } from '../../contract/deployment'
import { firstFreePort, type PortRange } from './portRanges'

/** The column of the comments; longer settings push theirs to the right. */
const COMMENT_COLUMN = 31

const commented = (setting: string, comment: string) => `${setting.padEnd(COMMENT_COLUMN - 1)} # ${comment}\n`

const gameSettings = (port: number, stop: string, ports = 'where players connect; also queried for players') => `run:
${commented('  jar: server.jar', 'started as: java <javaArgs> -jar server.jar nogui')}\
  javaArgs: ["-Xmx1G"]
  # env: { KEY: value }
${commented(`  port: ${port}`, ports)}\
${commented(`stop: { command: ${stop}, timeoutSeconds: 30 }`, 'then SIGTERM, then SIGKILL')}\
${commented("ready: 'Done \\('", 'ready when a console line matches')}\
${commented('# readyTimeoutSeconds: 300', 'then a warning says that it is not ready')}\
resources: { cpu: 2000m, memory: 2Gi }
`

const COPY = commented('data: copy', 'each instance writes in a copy: what it writes is gone at its next start')
const SHARED = commented('data: shared', 'it writes in this directory; copy: what it writes is gone at its next start')

const KEEP = commented(
  '# keep: [whitelist.json]',
  'but this is copied back after an orderly stop; also "plugins/*/data"',
)

const DRAIN = commented(
  '# drain: { command: "…" }',
  'sent before a restart or scaling down, which then wait for the players to leave',
)

/** The lines about `data` and `keep`; see `dataOf`. */
const dataSettings: Record<DeploymentType, string> = {
  proxy: COPY + KEEP,
  persistent: SHARED,
  scalable: COPY + KEEP,
  process: SHARED,
}

/** The lines about the program, its ports and its resources. */
const runSettings: Record<DeploymentType, (taken: PortRange[]) => string> = {
  proxy: (taken) => gameSettings(firstFreePort(25577, taken), 'end'),
  persistent: (taken) => gameSettings(firstFreePort(25565, taken), 'stop'),
  scalable: (taken) =>
    gameSettings(
      firstFreePort(25565, taken),
      'stop',
      'where players connect; further instances take the ports after it',
    ) + commented('instances: { min: 1, max: 3, playersPerInstance: 50 }', 'as many as the players need'),
  process: () => `run:
${commented('  command: ["node", "bot.js"]', 'the program and its arguments; no shell')}\
  # env: { KEY: value }
${commented('# stop: { command: stop, timeoutSeconds: 30 }', 'typed into its console before SIGTERM')}\
${commented("# ready: 'Ready'", 'ready when a console line matches; without it, at once')}\
# resources: { cpu: 500m, memory: 256Mi }
`,
}

/**
 * The commented YAML of a new deployment. It is valid without changes.
 * @param taken port ranges to avoid
 */
export function newDefinition({ name, type, node }: CreateDeployment, taken: PortRange[] = []): string {
  return [
    commented(`name: ${name}`, 'fixed'),
    commented(`type: ${type}`, 'fixed'),
    '# description: shown on its cards\n',
    commented(`dataDirectory: /${name}`, 'its files, under the shared root'),
    dataSettings[type],
    type === 'persistent' ? `node: ${JSON.stringify(node ?? '')}\n` : '',
    runSettings[type](taken),
    type === 'process' ? '' : DRAIN,
    commented('# discover: [lobby]', 'the file $QUARTERDECK_PEERS lists their instances'),
  ].join('')
}
