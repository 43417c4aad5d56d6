/** @jest-environment node */
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { compile, Logger } from 'sass'

const web = join(__dirname, '../../../src/web')
/** Chunks load their styles lazily: of two chunks with the same global class, the one loaded last would win. */
const FOLDERS = ['features', 'actionLog']

const filesOf = (pattern: RegExp) =>
  FOLDERS.flatMap((folder) =>
    readdirSync(join(web, folder), { recursive: true, encoding: 'utf8' })
      .filter((file) => pattern.test(file))
      .map((file) => join(folder, file)),
  )

const sheets = filesOf(/\.scss$/).map((sheet) => ({
  sheet,
  css: compile(join(web, sheet), { loadPaths: [join(web, '../../node_modules')], logger: Logger.silent }).css,
}))

function selectorsOf(css: string) {
  const rules = css.replaceAll(/\/\*.*?\*\//gs, '').replaceAll(/@keyframes [^{]*\{(?:[^{}]*\{[^{}]*\})*\s*\}/g, '')
  return [...rules.matchAll(/([^{};]+)\{/g)]
    .map(([, prelude = '']) => prelude.trim())
    .filter((prelude) => !prelude.startsWith('@'))
    .flatMap((prelude) => prelude.split(/,\s*(?![^(]*\))/))
}
const withoutGlobal = (selector: string) => selector.replaceAll(/:global\([^()]*\)/g, '')
const classesOf = (css: string) =>
  new Set(selectorsOf(css).flatMap((selector) => withoutGlobal(selector).match(/(?<=\.)[a-zA-Z][\w-]*/g) ?? []))

test('the styles of a feature match only its own classes and their descendants', () => {
  const global = sheets.flatMap(({ sheet, css }) =>
    selectorsOf(css)
      .filter((selector) => !sheet.endsWith('.module.scss') || !/\.[a-zA-Z]/.test(withoutGlobal(selector)))
      .map((selector) => `${sheet}: ${selector}`),
  )
  expect(global).toEqual([])
  expect(sheets.length).toBeGreaterThan(30)
})

test('components use exactly the classes that their CSS modules define', () => {
  const used = new Map<string, Set<string>>()
  const computed = new Set<string>()
  for (const file of filesOf(/\.tsx?$/)) {
    const code = readFileSync(join(web, file), 'utf8')
    for (const [, name, source = ''] of code.matchAll(/^import (\w+) from '(\..*\.module\.scss)'/gm)) {
      const sheet = join(dirname(file), source)
      if (code.includes(`${name}[`)) computed.add(sheet)
      const names = used.get(sheet) ?? new Set()
      for (const [, found = ''] of code.matchAll(new RegExp(`\\b${name}\\.(\\w+)`, 'g'))) names.add(found)
      used.set(sheet, names)
    }
  }
  const faults = sheets.flatMap(({ sheet, css }) => {
    const names = used.get(sheet) ?? new Set<string>()
    const defined = classesOf(css)
    return [
      ...[...names].filter((name) => !defined.has(name)).map((name) => `${sheet} has no class ${name}`),
      ...[...defined]
        .filter((name) => !names.has(name) && !computed.has(sheet))
        .map((name) => `${sheet}: nothing uses ${name}`),
    ]
  })
  expect(faults).toEqual([])
})
