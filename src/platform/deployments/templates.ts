import type { CreateDeployment, DeploymentType } from '../../contract/deployment'

const GAME = `run:
  jar: server.jar             # started as: java <javaArgs> -jar server.jar nogui
  javaArgs: ["-Xmx1G"]
  # env: { KEY: value }
  port: 25565                 # where players connect; also asked for who is playing
stop: { command: stop, timeoutSeconds: 30 }   # then SIGTERM, then SIGKILL
ready: 'Done \\('               # a console line that matches says it is ready
resources: { cpu: 2000m, memory: 2Gi }
`

const bodies: Record<DeploymentType, string> = {
  proxy: GAME.replace('port: 25565 ', 'port: 25577 ').replace('command: stop', 'command: end'),
  persistent: GAME,
  scalable: `${GAME}instances: { min: 1, max: 3, playersPerInstance: 50 }   # as many as the players need
`,
  process: `run:
  command: ["node", "bot.js"]   # the program and its arguments; no shell
  # env: { KEY: value }
# stop: { command: stop, timeoutSeconds: 30 }   # typed into its console before SIGTERM
# ready: 'Ready'              # a console line that matches says it is ready; without it, at once
# resources: { cpu: 500m, memory: 256Mi }
`,
}

/** The commented YAML that a new deployment begins with. It is valid as it stands. */
export function newDefinition({ name, type, node }: CreateDeployment): string {
  const head = [
    `name: ${name}                  # fixed`,
    `type: ${type}                  # fixed`,
    `# description: shown on its cards`,
    `dataDirectory: /${name}        # its files, under the shared root`,
    ...(type === 'persistent' ? [`node: ${JSON.stringify(node ?? '')}`] : []),
  ]
  return `${head.join('\n')}\n${bodies[type]}`
}
