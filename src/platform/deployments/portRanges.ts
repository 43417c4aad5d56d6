import type { Definition } from '../../contract/deployment'

/** The ports of a deployment's instances, both ends included. */
export interface PortRange {
  name: string
  first: number
  last: number
}

/** A port of this machine that the platform itself listens on. */
export interface OwnPort {
  port: number
  /** For messages: `Quarterdeck itself`. */
  owner: string
}

type DefinedPorts = Pick<Definition, 'name' | 'type' | 'node' | 'run' | 'instances'>

/** The ports of a deployment, one for each instance; undefined if its definition has none. */
export function portRangeOf({ name, type, run, instances }: DefinedPorts): PortRange | undefined {
  if (run.port === undefined) return undefined
  return { name, first: run.port, last: run.port + (type === 'scalable' ? (instances?.max ?? 1) : 1) - 1 }
}

/**
 * Warns of ports that other deployments or the platform use. No error: they may run at different times or change.
 * @param isNamed whether a deployment may be named in the warning
 */
export function portWarnings(
  definition: DefinedPorts,
  others: DefinedPorts[],
  platformPorts: OwnPort[] = [],
  isNamed: (deployment: string) => boolean = () => true,
): string[] {
  const own = portRangeOf(definition)
  if (!own) return []
  const warning = (conflict: string) =>
    `run.port: ${portsText(own)} ${conflict}. An instance whose port is taken is not started.`
  const platformWarnings = platformPorts
    .filter(({ port }) => own.first <= port && port <= own.last)
    .map(({ port, owner }) => warning(`${own.first === own.last ? 'is that' : `holds port ${port}`} of ${owner}`))
  const deploymentWarnings = others.flatMap((other) => {
    const range = portRangeOf(other)
    const isElsewhere = other.node !== undefined && definition.node !== undefined && other.node !== definition.node
    if (!range || isElsewhere || other.name === definition.name || !overlap(own, range)) return []
    return [
      warning(
        isNamed(other.name) ? `overlaps with ${portsText(range)} of the deployment "${other.name}"` : 'is in use',
      ),
    ]
  })
  return [...platformWarnings, ...deploymentWarnings]
}

/** The first port from `from` on that is outside the taken ranges. Above 65,000, a taken one. */
export function firstFreePort(from: number, taken: PortRange[]): number {
  const conflict = taken.find(({ first, last }) => first <= from && from <= last)
  return conflict && conflict.last < 65_000 ? firstFreePort(conflict.last + 1, taken) : from
}

const overlap = (one: PortRange, other: PortRange) => one.first <= other.last && other.first <= one.last

const portsText = ({ first, last }: PortRange) =>
  first === last ? `port ${first}` : `the range of ports ${first} to ${last}`
