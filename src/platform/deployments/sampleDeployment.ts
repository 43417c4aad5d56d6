import { mkdir, rename, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { isDuplicate, type Db } from '../state/db'
import { insertDeployment } from '../state/deployments/deployments'
import { claimFact, hasFact } from '../state/claimedFacts'

const PROGRAM = `// A tiny process for a first look around. It prints, and answers what is typed into its console.
const { createInterface } = require('node:readline')

const started = Date.now()
const minutes = () => Math.round((Date.now() - started) / 60000)
const answers = {
  help: () => 'Commands: help, time, uptime, stop. Everything else is said back.',
  time: () => new Date().toISOString(),
  uptime: () => minutes() + ' min',
}

console.log('Hello from the sample deployment. Type "help" below.')
console.log('Ready')
setInterval(() => console.log('Still here after ' + minutes() + ' min'), 60000)

createInterface({ input: process.stdin }).on('line', (line) => {
  if (line === 'stop') {
    console.log('Goodbye')
    process.exit(0)
  }
  console.log(Object.hasOwn(answers, line) ? answers[line]() : 'You said: ' + line)
})
`

const DEFINITION = `# A first deployment, to look around with. Delete it whenever you like.
name: sample
type: process
description: A tiny program that prints and answers
dataDirectory: /sample
run:
  command: ["node", "sample.js"]
ready: '^Ready$'                            # this line moves it from Starting Up to Online
stop: { command: stop, timeoutSeconds: 5 }
`

/** The name of the fact that it was created. */
const FACT = 'sample'

/**
 * Creates the sample deployment, enabled, with its program. Does so once per state, even if the deployment is deleted
 * later; a call that is interrupted leaves it to the next one.
 */
export async function createSampleDeployment(db: Db, shareDir: string): Promise<void> {
  if (await hasFact(db, FACT)) return
  const directory = join(shareDir, 'sample')
  await mkdir(directory, { recursive: true })
  await writeProgram(join(directory, 'sample.js'))
  await db
    .transaction()
    .execute(async (transaction) => {
      if (await claimFact(transaction, FACT, 'created'))
        await insertDeployment(transaction, { name: 'sample', type: 'process', content: DEFINITION, enabled: true })
    })
    .catch(async (error: unknown) => {
      if (!isDuplicate(error)) throw error
      await claimFact(db, FACT, 'created')
    })
}

/** Writes the program whole or not at all, unless there is a file of that name. Replicas may do so at the same time. */
async function writeProgram(file: string): Promise<void> {
  if (await stat(file).catch(() => undefined)) return
  // The same name each time: an interrupted call leaves at most one such file.
  await writeFile(`${file}.new`, PROGRAM)
  await rename(`${file}.new`, file).catch(() => undefined)
}
