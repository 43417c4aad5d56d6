import type { Deployment, Instance } from '../api/client'
import { DEPLOYMENT_TYPES } from '../../contract/pageRules'
import { CliError, EXIT } from '../failure'
import type { Session } from '../session'
import { listDeployments } from '../targets'
import { printTable } from '../terminal/terminal'

/** Lists the deployments with their instances. @param names only these deployments; none: all */
export async function ps({ terminal, api }: Session, names: string[]): Promise<void> {
  const all = await listDeployments(api)
  const missing = names.find((name) => !all.some((deployment) => deployment.name === name))
  if (missing !== undefined) throw new CliError(EXIT.notFound, `There is no deployment "${missing}".`)
  const deployments = all.filter(({ name }) => names.length === 0 || names.includes(name))
  if (terminal.isJson) return terminal.json(deployments)
  printTable(
    terminal,
    ['DEPLOYMENT', 'TYPE', 'INSTANCE', 'STATE', 'PLAYERS', 'ADDRESS', 'UPTIME'],
    deployments.flatMap((deployment) => {
      const head = [deployment.name, DEPLOYMENT_TYPES[deployment.typeIndex] ?? '']
      const rows = deployment.instances.map((instance) => [...head, ...rowOf(instance)])
      return rows.length > 0 ? rows : [[...head, '-', emptyState(deployment), '-', '-', '-']]
    }),
  )
}

function rowOf(instance: Instance): string[] {
  const players = instance.playerCount === null ? '?' : String(instance.playerCount ?? '-')
  const address = instance.port === undefined ? '-' : `${instance.ip}:${instance.port}`
  return [
    instance.podName,
    `${instance.state}${instance.draining ? ' (draining)' : ''}`,
    players,
    address,
    instance.uptime,
  ]
}

const emptyState = ({ enabled }: Deployment) => (enabled ? 'enabled' : 'disabled')
