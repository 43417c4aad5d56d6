import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { round } from './report'

/** The part of a profile of V8 (`--cpu-prof`) that is read here. */
interface Profile {
  nodes: { id: number; callFrame: { functionName: string; url: string }; children?: number[] }[]
  samples: number[]
  /** Microseconds since the sample before. */
  timeDeltas: number[]
}

const MAX_ROWS = 20

/** Functions of Node.js that load modules, which is done before the measurement. */
const LOADING = new Set(['Module._load', 'cjsLoader'])

/** Prints on what the platforms of a benchmark spent their time, by package, module of Node.js or file of ours. */
export function printProfiles(directory: string): void {
  const spent = new Map<string, number>()
  for (const file of readdirSync(directory)) {
    const { nodes, samples, timeDeltas } = JSON.parse(readFileSync(join(directory, file), 'utf8')) as Profile
    const loading = new Set<number>()
    // Callers precede what they call.
    for (const { id, callFrame, children = [] } of nodes)
      if (loading.has(id) || LOADING.has(callFrame.functionName)) for (const one of [id, ...children]) loading.add(one)
    const places = new Map(nodes.map(({ id, callFrame }) => [id, loading.has(id) ? '(loading)' : placeOf(callFrame)]))
    for (const [at, id] of samples.entries()) {
      const place = places.get(id) ?? '?'
      spent.set(place, (spent.get(place) ?? 0) + (timeDeltas[at] ?? 0))
    }
  }
  for (const place of ['(idle)', '(loading)']) spent.delete(place)
  const total = [...spent.values()].reduce((sum, time) => sum + time, 0)
  console.log(`\n${round(total / 1e6)} s of work after the modules were loaded:`)
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
