import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync, symlinkSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { useTemporaryDirectory } from '../support/platform/temporaryDirectory'

const root = resolve(__dirname, '../..')
const directory = useTemporaryDirectory()

test('the package holds the built product and nothing else, and its command line runs', () => {
  const packed = execFileSync('npm', ['pack', '--json', '--ignore-scripts', '--pack-destination', directory()], {
    cwd: root,
    encoding: 'utf8',
  })
  const [{ filename }] = JSON.parse(packed) as [{ filename: string }]
  execFileSync('tar', ['-xzf', join(directory(), filename), '-C', directory()])
  const unpacked = join(directory(), 'package')
  expect(readdirSync(unpacked).sort()).toEqual(['README.md', 'dist', 'package.json'])
  // As its dependencies would be installed.
  symlinkSync(join(root, 'node_modules'), join(unpacked, 'node_modules'))
  const { bin, version } = JSON.parse(readFileSync(join(unpacked, 'package.json'), 'utf8')) as {
    bin: { quarterdeck: string }
    version: string
  }
  const run = (argument: string) =>
    execFileSync(process.execPath, [join(unpacked, bin.quarterdeck), argument], { encoding: 'utf8' })
  expect(run('--help')).toContain('quarterdeck apply')
  expect(run('--version')).toBe(`${version}\n`)
})
