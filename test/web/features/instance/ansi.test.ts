/** @jest-environment node */
import type { Span } from '../../../../src/web/features/instance/console/log/ansi'
import { plainText, styleText } from '../../../../src/web/features/instance/console/log/ansi'
import { cpuMs } from '../../../support/time/cpuMs'

const ESC = '\u001b'
const bare = (text: string): Span => ({ text })
const colored = (text: string, color: string): Span => ({ text, style: { color } })

test.each<[string, string, Span[]]>([
  ['no codes', 'plain', [bare('plain')]],
  ['a color and its reset', `a${ESC}[31mb${ESC}[0mc`, [bare('a'), colored('b', 'var(--ansi-1)'), bare('c')]],
  ['a reset without a number', `${ESC}[32mb${ESC}[mc`, [colored('b', 'var(--ansi-2)'), bare('c')]],
  ['the default color', `${ESC}[35mb${ESC}[39mc`, [colored('b', 'var(--ansi-5)'), bare('c')]],
  ['a bright color', `${ESC}[92mb`, [colored('b', 'var(--ansi-10)')]],
  [
    'a background',
    `${ESC}[44mb`,
    [{ text: 'b', style: { color: undefined, backgroundColor: 'var(--ansi-ground-4)' } }],
  ],
  [
    'a bright background',
    `${ESC}[101mb`,
    [{ text: 'b', style: { color: undefined, backgroundColor: 'var(--ansi-ground-9)' } }],
  ],
  ['256 colors, the first 16', `${ESC}[38;5;9mb`, [colored('b', 'var(--ansi-9)')]],
  ['256 colors, the cube', `${ESC}[38;5;214mb`, [colored('b', 'rgb(255 175 0)')]],
  ['256 colors, the grays', `${ESC}[38;5;255mb`, [colored('b', 'rgb(238 238 238)')]],
  ['true color', `${ESC}[38;2;255;200;10mb`, [colored('b', 'rgb(255 200 10)')]],
  ['true color with colons', `${ESC}[38:2::255:200:10mb`, [colored('b', 'rgb(255 200 10)')]],
  ['256 colors with colons', `${ESC}[38:5:214mb`, [colored('b', 'rgb(255 175 0)')]],
  [
    'codes after an extended color',
    `${ESC}[38;5;214;1mb`,
    [{ text: 'b', className: 'bold', style: { color: 'rgb(255 175 0)' } }],
  ],
  ['a channel beyond 255', `${ESC}[38;2;999;200;10mb`, [colored('b', 'rgb(255 200 10)')]],
  ['several codes at once', `${ESC}[1;3;4;2mb`, [{ text: 'b', className: 'bold dim italic underline' }]],
  ['bold and its reset', `${ESC}[1mb${ESC}[22mc`, [{ text: 'b', className: 'bold' }, bare('c')]],
  [
    'inverse',
    `${ESC}[7mb${ESC}[27mc`,
    [{ text: 'b', style: { color: 'var(--log-ground)', backgroundColor: 'var(--log-text)' } }, bare('c')],
  ],
  [
    'inverse with a color',
    `${ESC}[31;7mb`,
    [{ text: 'b', style: { color: 'var(--log-ground)', backgroundColor: 'var(--ansi-1)' } }],
  ],
  [
    'dark text on a bright background',
    `${ESC}[48;2;250;250;250mb`,
    [{ text: 'b', style: { color: 'rgb(0 0 0)', backgroundColor: 'rgb(250 250 250)' } }],
  ],
  [
    'the ignored underline color',
    `${ESC}[4;58;5;1mb${ESC}[24;58;2;7;9;3mc`,
    [{ text: 'b', className: 'underline' }, bare('c')],
  ],
  [
    'an underline and its reset by style number',
    `${ESC}[4:3mb${ESC}[4:0mc`,
    [{ text: 'b', className: 'underline' }, bare('c')],
  ],
  ['unknown codes', `${ESC}[73;999mb`, [bare('b')]],
  ['a private sequence ending in m', `${ESC}[>4;1mb`, [bare('b')]],
])('decisions §6: styleText renders %s', (_what, content, spans) => expect(styleText(content).spans).toEqual(spans))

test.each(['0;0;0', '10;10;40', '90;0;0'])(
  'a color too dark for the console is lightened to a readable contrast: %s',
  (channels) => {
    const [{ style }] = styleText(`${ESC}[38;2;${channels}mx`).spans as [Span]
    const [red, green, blue] = style!.color!.match(/\d+/g)!.map((channel) => (Number(channel) / 255) ** 2.2)
    // The background #0b131c has a luminance of 0.006.
    expect((0.2126 * red! + 0.7152 * green! + 0.0722 * blue! + 0.05) / 0.056).toBeGreaterThan(4.5)
  },
)

test.each([
  ['markup', '<img src=x onerror=alert(1)>', '<img src=x onerror=alert(1)>'],
  ['a link (OSC 8)', `${ESC}]8;;http://evil.example${ESC}\\click${ESC}]8;;${ESC}\\`, 'click'],
  ['the clipboard (OSC 52)', `a${ESC}]52;c;aGk=\u0007b`, 'ab'],
  ['the title (OSC 0)', `${ESC}]0;title\u0007text`, 'text'],
  ['an unterminated string hides no text', `${ESC}]52;c;aGk= and the rest`, '52;c;aGk= and the rest'],
  ['DCS, SOS, PM, APC', `${ESC}Pq${ESC}\\${ESC}Xa${ESC}\\${ESC}^b${ESC}\\${ESC}_c${ESC}\\text`, 'text'],
  ['cursor movement and erasing', `${ESC}[2J${ESC}[1;1H${ESC}[3A${ESC}[Ktext${ESC}[?25l`, 'text'],
  ['one-byte control sequences', '\u009b31mred\u009d8;;x\u009c', 'red'],
  ['character sets and resets', `${ESC}(B${ESC}c${ESC}=text`, 'text'],
  ['an escape at the end', `text${ESC}`, 'text'],
  ['an unfinished sequence', `text${ESC}[31`, 'text31'],
  ['carriage returns hide no text', 'rm -rf /\rharmless', 'rm -rf /harmless'],
  ['bell, backspace, NUL, DEL', 'a\u0007b\u0008c\0d\u007fe', 'abcde'],
  ['right-to-left marks and overrides', 'a\u202eb\u202cc\u200fd\u2067e\u2069f\u061cg', 'abcdefg'],
  ['invisible characters', 'a\u200bb\ufeffc\u2060d\u00ade', 'abcde'],
  ['line separators', 'a\u2028b\u2029c', 'abc'],
  ['tabs expand to the next multiple of eight', 'a\tb\t\tc', 'a       b               c'],
  ['Arabic, Chinese and emoji stay', 'مرحبا 漢字 🎉👨‍👩‍👧', 'مرحبا 漢字 🎉👨‍👩‍👧'],
])('security 40: styleText reduces hostile input to plain text: %s', (_what, content, text) => {
  const styled = styleText(content)
  expect(styled.text).toBe(text)
  expect(styled.spans.map((span) => span.text).join('')).toBe(text)
})

test('security 40: styles contain only colors that styleText generates', () => {
  const { spans } = styleText(`${ESC}[38;2;1;url(x);3mA${ESC}[38;5;url(x)mB${ESC}[38;2;NaN;2;3mC`)
  for (const { style, className } of spans) {
    expect(className).toBeUndefined()
    if (style) expect(style.color).toMatch(/^(rgb\(\d+ \d+ \d+\)|var\(--ansi-\d+\))$/)
  }
})

test.each([
  ['unfinished strings', `${ESC}]`.repeat(100_000)],
  ['one-byte strings', '\u009d'.repeat(100_000)],
  ['unfinished parameters', `${ESC}[${'1;'.repeat(100_000)}`],
])('styling a hostile line of %s takes linear time', (_what, content) => {
  // Quadratic time would be minutes.
  expect(cpuMs(() => styleText(content))).toBeLessThan(10_000)
})

test.each([
  'plain',
  `a${ESC}[31mb${ESC}[0mc`,
  `\ta\t${ESC}[1m\tb\t`,
  `1234567${ESC}[31m\t8\t`,
  `${ESC}]8;;http://x\u0007link${ESC}]8;;\u0007`,
  `a\u200bb\u202ec\u0007${ESC}`,
  `${ESC}[38;2;1;2;3mx${ESC}]0;no end`,
  'gr\u00fc\u00dfe \u{1f600}\t!',
])('plainText equals the text of styleText: %j', (content) => {
  expect(plainText({ content })).toBe(styleText(content).text)
})
