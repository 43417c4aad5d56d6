import yargs from 'yargs'
import { createApi } from '../api/client'
import { readSignIn } from '../configFile'
import { listDeployments } from '../targets'

/** How long the shell waits for the server. */
const TIMEOUT_MS = 3000
/** Words that need no quoting in a shell. */
const SAFE = /^[a-z0-9-]+$/

/** The commands whose arguments are names of deployments, instances or both. */
const NAMED: Record<string, ('deployment' | 'instance')[] | undefined> = {
  ps: ['deployment'],
  logs: ['instance'],
  send: ['instance'],
  start: ['deployment', 'instance'],
  stop: ['deployment', 'instance'],
  restart: ['deployment', 'instance'],
  drain: ['deployment', 'instance'],
}

/** Prints the script that a shell reads. */
export function printCompletion(shell: 'bash' | 'zsh'): void {
  // yargs detects the shell by these variables.
  process.env.SHELL = `/bin/${shell}`
  delete process.env.ZSH_NAME
  const program = yargs([]) as unknown as { showCompletionScript(program: string, command: string): void }
  program.showCompletionScript('quarterdeck', `completion ${shell}`)
}

/**
 * The names that may follow, as the server has them now; none if it does not answer.
 * @param words the typed words, without the program. @returns undefined where no name is expected
 */
export async function completeNames(words: string[]): Promise<string[] | undefined> {
  // Options such as --json may come first.
  const [command = '', ...before] = words.slice(words.findIndex((word) => !word.startsWith('-')))
  const kinds = Object.hasOwn(NAMED, command) ? NAMED[command] : undefined
  const isFirst = before.filter((word) => !word.startsWith('-')).length <= 1
  if (!kinds || !isFirst || before.at(-1)?.startsWith('-')) return undefined
  try {
    const api = createApi(await readSignIn(), () => undefined, AbortSignal.timeout(TIMEOUT_MS))
    const deployments = await listDeployments(api)
    return [
      ...(kinds.includes('deployment') ? deployments.map(({ name }) => name) : []),
      ...(kinds.includes('instance')
        ? deployments.flatMap(({ instances }) => instances.map(({ podName }) => podName))
        : []),
    ].filter((name) => SAFE.test(name))
  } catch {
    return []
  }
}
