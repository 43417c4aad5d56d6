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
