/**
 * The checks of `npm test` before its tests: types, lint, format and unused code. The linter takes as long as the
 * others together and every check uses one core, so the linter runs in parallel to the others. Prints only failures.
 *
 *   node test/checks.js [--quick]
 */
const { spawn } = require('node:child_process')
const { join } = require('node:path')

const root = join(__dirname, '..')
const isQuick = process.argv.includes('--quick')
// The cache rechecks a file only when the file itself changes, not when a type that it imports changes.
const cache = ['--cache', '--cache-strategy', 'content', '--cache-location', '.cache/eslint']

const lanes = [
  [['eslint', '.', ...(isQuick ? cache : [])]],
  [['tsc', '--build'], ['prettier', '--check', '--cache', '--log-level', 'warn', '.'], ...(isQuick ? [] : [['knip']])],
]

/** @returns whether the program succeeded. Prints its output at once if it failed. */
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
