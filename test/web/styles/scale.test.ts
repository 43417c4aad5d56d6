/** @jest-environment node */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { compile, Logger } from 'sass'

const web = join(__dirname, '../../../src/web')
const files = readdirSync(web, { recursive: true, encoding: 'utf8' })
const contentsOf = (pattern: RegExp) =>
  files.filter((file) => pattern.test(file)).map((file) => ({ file, text: readFileSync(join(web, file), 'utf8') }))
const compiled = files
  .filter((file) => /(^|\/)[^_/]+\.scss$/.test(file))
  .map((file) => ({
    file,
    text: compile(join(web, file), { loadPaths: [join(web, '../../node_modules')], logger: Logger.silent }).css,
  }))

/** 40, 48 and 64 rem. Bootstrap gives its widths in pixels, and subtracts 0.02 of those that it excludes. */
const BREAKPOINTS = ['40rem', '48rem', '64rem', '640px', '768px', '1024px', '639.98px', '767.98px', '1023.98px']

test('layouts change at three widths of the window', () => {
  const queries = [
    ...compiled.flatMap(({ file, text }) =>
      [...text.matchAll(/@media ([^{]*width[^{]*)\{/g)].map(([, query = '']) => ({ file, query })),
    ),
    ...contentsOf(/\.tsx?$/).flatMap(({ file, text }) =>
      [...text.matchAll(/\((?:(?:min|max)-)?width\b[^)']*\)/g)]
        .filter(([query]) => /\d(rem|px)/.test(query))
        .map(([query]) => ({ file, query })),
    ),
  ]
  const others = queries.filter(({ query }) =>
    (query.match(/[\d.]+(?:px|rem)/g) ?? ['no width']).some((width) => !BREAKPOINTS.includes(width)),
  )
  expect(others).toEqual([])
  expect(queries.length).toBeGreaterThan(50)
})

const SPACES = [4, 8, 12, 16, 24, 32, 48]

/** In pixels. */
const sizesOf = (value: string) =>
  value
    .trim()
    .split(/\s+/)
    .filter((size) => /^-?[\d.]+(rem|px)?$/.test(size))
    .map((size) => parseFloat(size) * (size.endsWith('rem') ? 16 : 1))

/** Corrects the position of an element, for example of a checkbox beside its label. */
const isSmall = (size: number) => size < 4

/** Leaves room for an icon or a control, or aligns with the text beside one. */
const isIndent = (property: string, sides: number, side: number, size: number) =>
  size > 24 && (/-(left|right)$/.test(property) || (sides > 1 && side % 2 === 1))

test('spaces are those of the scale', () => {
  const sheets = contentsOf(/\.scss$/).filter(({ file }) => !file.endsWith('ace.scss'))
  const declarations = sheets.flatMap(({ file, text }) =>
    [...text.matchAll(/^ *((?:padding|margin)(?:-[a-z]+)*|(?:row-|column-)?gap): ([^;(]*);/gm)].map(
      ([, property = '', value = '']) => ({ file, property, sizes: sizesOf(value) }),
    ),
  )
  const others = declarations.filter(({ property, sizes }) =>
    sizes.some(
      (size, side) => !SPACES.includes(size) && !isSmall(size) && !isIndent(property, sizes.length, side, size),
    ),
  )
  expect(others).toEqual([])
  expect(declarations.length).toBeGreaterThan(450)
})

test('a text has its size with the line height of the scale, from styles/_text.scss', () => {
  const sheets = contentsOf(/\.scss$/).filter(({ file }) => !file.startsWith('styles/'))
  const declarations = sheets.flatMap(({ file, text }) =>
    [...text.matchAll(/^ *(?:font|font-size|line-height): .*/gm)].map(([declaration]) => `${file}:${declaration}`),
  )
  // A button that shows its icon alone.
  expect(declarations).toEqual(['features/instance/console/console.module.scss:    font-size: 0;'])
  expect(sheets.filter(({ text }) => text.includes('@include text(')).length).toBeGreaterThan(30)
})

/**
 * A console shows bold text of a program as such. The name of a deployment is in a heading, whose button is regular.
 */
const HEAVY = ['features/instance/console/log/log.module.scss: .bold', 'features/overview/groups.module.scss: .name']

test('only headings are heavier than 500', () => {
  const heavy = compiled.flatMap(({ file, text }) =>
    [...text.matchAll(/([^{}]+)\{[^{}]*\bfont-weight:\s*([^;}]+)/g)]
      .filter(([, , weight = '']) => !/^(?:[1-5]00\b|normal|inherit|var\()/.test(weight.trim()))
      .map(([, selector = '']) => `${file}: ${selector.replaceAll(/\s+/g, ' ').trim()}`),
  )
  expect(heavy.filter((rule) => !/: (?:\.?h\d,? ?)+$/.test(rule) && !HEAVY.includes(rule))).toEqual([])
  expect(heavy).toEqual(expect.arrayContaining(HEAVY))
})

test('motion takes 120 or 180 ms', () => {
  const durations = compiled.flatMap(({ file, text }) =>
    [...text.matchAll(/\btransition(?:-duration)?:([^;}]+)/g)].flatMap(([, value = '']) =>
      [...value.matchAll(/(?:^|\s)([\d.]+)(ms|s)\b/g)].map(([, time = '', unit]) => ({
        file,
        ms: parseFloat(time) * (unit === 's' ? 1000 : 1),
      })),
    ),
  )
  expect(durations.filter(({ ms }) => ms !== 120 && ms !== 180)).toEqual([])
  expect(durations.length).toBeGreaterThan(10)
})
