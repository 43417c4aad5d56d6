/** @jest-environment node */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { styleText } from '../../../../src/web/features/instance/console/log/ansi'

const sheet = readFileSync(join(__dirname, '../../../../src/web/features/instance/console/console.module.scss'), 'utf8')
const values = new Map([...sheet.matchAll(/--((?:ansi|log)-[\w-]+): (#\w+)/g)].map(([, name, value]) => [name, value]))

/** The RGB channels of a color, with CSS variables from the style sheet. */
function channelsOf(color: string) {
  const name = /^var\(--(.+)\)$/.exec(color)?.[1]
  const value = name === undefined ? color : values.get(name)
  if (value?.startsWith('rgb')) return value.match(/\d+/g)!.map(Number)
  const digits = /^#(?:(\w{3})|(\w{6}))$/.exec(value ?? '')
  if (!digits) throw new Error(`${color} is no colour`)
  const hex = digits[2] ?? digits[1]!.replace(/./g, '$&$&')
  return [0, 2, 4].map((at) => parseInt(hex.slice(at, at + 2), 16))
}
function luminanceOf(color: string) {
  const linear = channelsOf(color).map((channel) =>
    channel / 255 <= 0.04045 ? channel / 255 / 12.92 : ((channel / 255 + 0.055) / 1.055) ** 2.4,
  )
  return 0.2126 * linear[0]! + 0.7152 * linear[1]! + 0.0722 * linear[2]!
}
function contrastOf(codes: string, row = 'var(--log-text)') {
  const { style } = styleText(`\u001b[${codes}mx`).spans[0]!
  const [text, ground] = [style?.color ?? row, style?.backgroundColor ?? 'var(--log-ground)'].map(luminanceOf)
  return (Math.max(text!, ground!) + 0.05) / (Math.min(text!, ground!) + 0.05)
}

const sixteen = Array.from({ length: 16 }, (_, index) => index)
const textCode = (index: number) => String(index < 8 ? 30 + index : 82 + index)
const groundCode = (index: number) => String(index < 8 ? 40 + index : 92 + index)
const extended = [
  16, 17, 20, 22, 28, 46, 52, 88, 94, 100, 130, 160, 196, 220, 226, 232, 238, 240, 243, 244, 245, 248, 255,
]
const texts = ['39', ...sixteen.map(textCode), ...extended.map((index) => `38;5;${index}`)]
const grounds = ['49', ...sixteen.map(groundCode), ...extended.map((index) => `48;5;${index}`)]

test('every combination of text and background colors has a contrast of at least 4.5:1', () => {
  const faint = texts
    .flatMap((text) => grounds.map((ground) => `${text};${ground}`))
    .filter((codes) => contrastOf(codes) < 4.5)
  expect(faint).toEqual([])
  expect(sixteen.every((index) => values.has(`ansi-${index}`) && values.has(`ansi-ground-${index}`))).toBe(true)
})

test('inverse combinations have a contrast of at least 4.5:1', () => {
  const faint = texts
    .flatMap((text) => grounds.map((ground) => `${text};${ground};7`))
    .filter((codes) => contrastOf(codes) < 4.5)
  expect(faint).toEqual([])
})

test.each(['var(--ansi-9)', '#e3b564'])(
  'the default text color on a colored background has a contrast of at least 4.5:1, in lines of %s',
  (row) => {
    expect(grounds.filter((ground) => contrastOf(ground, row) < 4.5)).toEqual([])
  },
)

test('black on yellow keeps both colors', () => {
  expect(styleText('\u001b[43;30mx').spans[0]?.style).toEqual({
    color: 'var(--log-ground)',
    backgroundColor: 'var(--ansi-3)',
  })
})
