import { Composer } from 'yaml'
import { readDefinition } from '../../src/contract/definitionText'

/** The largest definition that is parsed, in UTF-16 code units. */
const SIZE = 16 * 1024

/** A text of numbered pieces, of at most `size` UTF-16 code units. */
function filled(size: number, begin: string, piece: (number: number) => string, end = ''): string {
  let text = begin
  for (let number = 0; text.length + piece(number).length + end.length <= size; number++) text += piece(number)
  return text + end
}

const messageOf = (text: string) => {
  const result = readDefinition(text)
  return 'problem' in result ? result.problem.message : undefined
}

test.each<[string, (size: number) => string, RegExp]>([
  ['text after a map', (size) => filled(size, '', () => 'a\n: b\n'), /^Line 2: Unexpected/],
  ['maps after maps', (size) => filled(size, '', () => '{}'), /^Line 1: Unexpected/],
  ['lists after lists', (size) => filled(size, '', () => '[]'), /^Line 1: Unexpected/],
  ['tags after tags', (size) => filled(size, '', () => '!!x '), /^Line 1: A node can have at most one tag/],
  ['directives', (size) => filled(size, '', () => '%x\n'), /^Line \d+: Missing directives-end/],
  ['documents', (size) => filled(size, 'a: 1\n', () => '---\n'), /^Line 2: The configuration must be one document\.$/],
])('parsing a definition full of errors (%s) stops at the first error', (_what, make, message) => {
  const composed = jest.spyOn(Composer.prototype, 'next')
  try {
    expect(messageOf(make(SIZE))).toMatch(message)
    expect(composed.mock.calls.length).toBeLessThan(30)
  } finally {
    composed.mockRestore()
  }
})

/** CPU time of `work` in this process in milliseconds, independent of other processes. */
function cpuMs(work: () => void): number {
  const before = process.cpuUsage()
  work()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1000
}

test.each<[string, (size: number) => string, RegExp]>([
  [
    'of a block',
    (size) => filled(size, '', (number) => `${number.toString(36)}:\n`),
    /is not a setting|must be unique/,
  ],
  [
    'of a flow map',
    (size) => filled(size, '{', (number) => `${number.toString(36)},`, '}'),
    /is not a setting|must be unique/,
  ],
  ['of one name', (size) => filled(size, '', () => 'a: 1\n'), /^Line 2: Map keys must be unique\.$/],
  [
    'that are merged',
    (size) => filled(size, 'a: &a {b: 1}\n', () => '<<: *a\n'),
    /^Line 3: Map keys must be unique\.$/,
  ],
  ['that are maps', (size) => filled(size, '', () => '? {a: 1}\n'), /^Line 1: Map keys must be texts\.$/],
])('many keys %s are parsed in linear time', (_what, make, message) => {
  expect(messageOf(make(SIZE))).toMatch(message)
  // Quadratic parsing takes 256 times as long for 16 times the text. The fastest run has the least garbage collection.
  let [short, long] = [Infinity, Infinity]
  const [small, large] = [make(SIZE / 16), make(SIZE)]
  for (let tries = 0; tries < 20 && !(long / short <= 100); tries++) {
    short = Math.min(short, cpuMs(() => Array.from({ length: 20 }, () => messageOf(small))) / 20)
    long = Math.min(
      long,
      cpuMs(() => messageOf(large)),
    )
  }
  expect(long / short).toBeLessThanOrEqual(100)
})

test.each([
  ['a: 1\nb: {c: 1, c: 2}\n', 'Line 2: Map keys must be unique.'],
  ['name: a\n"name": b\n', 'Line 2: Map keys must be unique.'],
  ['a: !x 1\n', 'Line 1: Unresolved tag: !x.'],
  ['a: [1\nb: 2\n', 'Line 2: Flow sequence in block collection must be sufficiently indented and end with a ].'],
])('the error in %j is reported with its line', (text, message) => {
  expect(messageOf(text)).toBe(message)
})

test('all errors of the settings are reported, an unknown setting first, the others by lines, and at most ten', () => {
  const text = 'name: lobby\ntype: persistant\nrun: { comand: a, port: 99999 }\ndataDirectory: lobby\nfoo: 1\nbar: 2\n'
  expect(readDefinition(text)).toEqual({
    problem: { message: 'Line 3: run.comand: is not a setting of a deployment', field: 'run.comand', line: 3 },
    others: [
      {
        message: 'Line 2: type: must be proxy, persistent, scalable or process',
        field: 'type',
        line: 2,
      },
      { message: 'Line 3: run.port: must be at most 65535', field: 'run.port', line: 3 },
      {
        message: 'Line 4: dataDirectory: must be a path under the shared root such as /lobby',
        field: 'dataDirectory',
        line: 4,
      },
      { message: 'Line 5: foo: is not a setting of a deployment', field: 'foo', line: 5 },
      { message: 'Line 6: bar: is not a setting of a deployment', field: 'bar', line: 6 },
    ],
  })
  const many = filled(SIZE, '', (number) => `k${number}: 1\n`)
  expect(readDefinition(many)).toMatchObject({ others: { length: 9 } })
})
