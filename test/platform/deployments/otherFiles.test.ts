import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseDefinition } from '../../../src/platform/deployments/definitions'
import { specOf } from '../../../src/platform/deployments/instanceSpec'
import { checkProgram } from '../../../src/platform/runtime/contained/systemPaths'
import type { InstanceRow } from '../../../src/platform/state/deployments/instances'
import { useTemporaryDirectory } from '../../support/platform/temporaryDirectory'

const root = useTemporaryDirectory()
const directory = () => join(root(), 'own')
const system = { readable: ['/usr', '/bin'], path: '/usr/bin:/bin' }

beforeAll(() => {
  for (const name of ['own', 'other']) mkdirSync(join(root(), name))
  for (const path of ['own/server.jar', 'other/there', 'own/program']) writeFileSync(join(root(), path), '')
  for (const path of ['other/there', 'own/program']) chmodSync(join(root(), path), 0o755)
  symlinkSync('../other/there', join(directory(), 'link-to-there'))
  symlinkSync('../other/gone', join(directory(), 'link-to-gone'))
  symlinkSync('../other/../own/server.jar', join(directory(), 'by-there'))
  symlinkSync('../gone/../own/server.jar', join(directory(), 'by-gone'))
  symlinkSync('../other/../own/program', join(directory(), 'program-by-there'))
  symlinkSync('../gone/../own/program', join(directory(), 'program-by-gone'))
  symlinkSync('server.jar', join(directory(), 'latest.jar'))
  symlinkSync('/bin/sh', join(directory(), 'shell'))
})

describe('a jar', () => {
  const answer = async (jar: string, isolation: 'contained' | 'plain' = 'contained') => {
    const text = `name: own\ntype: proxy\ndataDirectory: /own\nrun:\n  jar: ${JSON.stringify(jar)}\n`
    const row = { pod_name: 'own-0a1b2c', slot: 0 } as InstanceRow
    return 'missingJar' in (await specOf(parseDefinition(text), row, directory(), { sharesPorts: false, isolation }))
      ? 'missing'
      : 'there'
  }

  test.each([
    ['../other/there', '../other/gone'],
    ['link-to-there', 'link-to-gone'],
    ['by-there', 'by-gone'],
    ['../../../../../../../../etc/passwd', '../../../../../../../../etc/gone'],
  ])(
    'security 90: %s outside of its deployment’s directory is reported missing, exactly like %s',
    async (there, gone) => {
      expect(await answer(there)).toBe('missing')
      expect(await answer(gone)).toBe('missing')
    },
  )

  test('is found in the directory, also by a link, and everywhere by instances that are plain processes', async () => {
    expect(await answer('server.jar')).toBe('there')
    expect(await answer('latest.jar')).toBe('there')
    expect(await answer('../other/there', 'plain')).toBe('there')
  })
})

describe('a program', () => {
  const answer = async (program: string) => {
    const check = await checkProgram(program, directory(), system.path, system)
    return typeof check === 'string' ? check : 'outside'
  }

  test.each([
    ['/etc/passwd', '/etc/gone'],
    ['/usr/../etc/passwd', '/usr/../etc/gone'],
    ['../other/there', '../other/gone'],
    ['/data/../etc/passwd', '/data/../etc/gone'],
    ['./link-to-there', './link-to-gone'],
    ['/data/link-to-there', '/data/link-to-gone'],
    ['./program-by-there', './program-by-gone'],
  ])('security 90: %s, which an instance cannot see, is refused exactly like %s', async (there, gone) => {
    expect(await answer(there)).toMatch(/^(?:outside|missing)$/)
    expect(await answer(there)).toBe(await answer(gone))
  })

  test('is found in the directory and among those of the system', async () => {
    expect(await answer('./program')).toBe('found')
    expect(await answer('/data/program')).toBe('found')
    expect(await answer('/bin/sh')).toBe('found')
    expect(await answer('./shell')).toBe('found')
    expect(await answer('./server.jar')).toBe('not executable')
  })
})
