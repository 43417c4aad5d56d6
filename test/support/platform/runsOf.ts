import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

interface Run {
  podName: string
  runId: string
  state: string
}

/** The records of instances, contained or plain, in the data directory of a platform that may be stopped. */
export function runsOf(dataDir: string): Run[] {
  const directories = ['contained/runs', 'instances'].map((name) => join(dataDir, 'runtime', name))
  return directories.flatMap((directory) =>
    existsSync(directory)
      ? readdirSync(directory)
          .filter((name) => name.endsWith('.json'))
          .map((name) => JSON.parse(readFileSync(join(directory, name), 'utf8')) as Run)
      : [],
  )
}

/** The pid of the first of these instances, or of its container's first process. */
export function pidOfRun(dataDir: string): number {
  const [sample] = runsOf(dataDir)
  const file = ['contained/runs', 'instances']
    .map((name) => join(dataDir, 'runtime', name, `${sample?.podName}.json`))
    .find(existsSync)
  return (JSON.parse(readFileSync(file!, 'utf8')) as { pid: number }).pid
}
