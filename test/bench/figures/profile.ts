import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { round } from './report'

/** The part of a profile of V8 (`--cpu-prof`) that is read here. */
interface Profile {
  nodes: { id: number; callFrame: { functionName: string; url: string } }[]
  samples: number[]
  /** Microseconds since the sample before. */
  timeDeltas: number[]
}

const MAX_ROWS = 20

/** Prints on what the platforms of a benchmark spent their time, by package, module of Node.js or file of ours. */
export function printProfiles(directory: string): void {
  const spent = new Map<string, number>()
  for (const file of readdirSync(directory)) {
    const { nodes, samples, timeDeltas } = JSON.parse(readFileSync(join(directory, file), 'utf8')) as Profile
    const places = new Map(nodes.map(({ id, callFrame }) => [id, placeOf(callFrame)]))
    for (const [at, id] of samples.entries()) {
      const place = places.get(id) ?? '?'
      spent.set(place, (spent.get(place) ?? 0) + (timeDeltas[at] ?? 0))
    }
  }
  spent.delete('(idle)')
  const total = [...spent.values()].reduce((sum, time) => sum + time, 0)
  console.log(`\n${round(total / 1e6)} s of work, from the start to the end of the platform:`)
  for (const [place, time] of [...spent].sort(([, one], [, other]) => other - one).slice(0, MAX_ROWS))
    console.log(`${((100 * time) / total).toFixed(1).padStart(5)} %  ${place}`)
}

function placeOf({ functionName, url }: Profile['nodes'][number]['callFrame']): string {
  if (url === '') return functionName
  return (
    /node_modules\/((?:@[^/]+\/)?[^/]+)\/(?!.*node_modules\/)/.exec(url)?.[1] ??
    /\/dist\/(.*)$/.exec(url)?.[1] ??
    url.split('/').slice(0, 3).join('/')
  )
}
