/**
 * What `npm test` checks before its tests: types, lint, format and unused code. The linter takes as long as the others
 * together and each uses one processor, so they run side by side. Says nothing unless a check fails.
 *
 *   node test/checks.js [--quick]
 */
const { spawn } = require('node:child_process')
const { join } = require('node:path')

const root = join(__dirname, '..')
const isQuick = process.argv.includes('--quick')
// With a cache a file is only checked when it has changed itself, not when a type that it uses has.
const cache = ['--cache', '--cache-strategy', 'content', '--cache-location', '.cache/eslint']

const lanes = [
  [['eslint', '.', ...(isQuick ? cache : [])]],
  [['tsc', '--build'], ['prettier', '--check', '--cache', '--log-level', 'warn', '.'], ...(isQuick ? [] : [['knip']])],
]

/** @returns whether the program succeeded. Its output is shown at once, when it has failed. */
function succeeds([program, ...args]) {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, [join(root, 'node_modules/.bin', program), ...args], { cwd: root })
    const output = []
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => output.push(chunk))
    child.on('close', (code) => {
      if (code !== 0) process.stderr.write(`${program} ${args.join(' ')}\n${Buffer.concat(output)}`)
      resolve(code === 0)
    })
  })
}

async function run(lane) {
  let isGood = true
  for (const check of lane) isGood = (await succeeds(check)) && isGood
  return isGood
}

Promise.all(lanes.map(run)).then((results) => (process.exitCode = results.every(Boolean) ? 0 : 1))
