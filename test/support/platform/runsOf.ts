import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

interface Run {
  podName: string
  runId: string
  state: string
}

/** What a platform of a data directory, running or not, has on disk of its instances, contained or plain. */
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
