import { spawnSync } from 'node:child_process'
import { join } from 'node:path'

const setup = join(__dirname, '../../src/setup.js')

test.each([
  [['biuld']],
  [['--help']],
  [['build', '--forse']],
  [['install', '--force']],
  [['build', '--force', 'test']],
])('src/setup.js refuses the arguments %j instead of building', (args) => {
  const { status, stderr, stdout } = spawnSync(process.execPath, [setup, ...args], { encoding: 'utf8' })
  expect({ status, stdout }).toEqual({ status: 1, stdout: '' })
  expect(stderr).toBe(
    `Unknown arguments: ${args.join(' ')}. Usage: node src/setup.js build [--force] | dev | install | test\n`,
  )
})
