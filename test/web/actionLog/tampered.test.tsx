import { spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { render, screen, waitFor } from '@testing-library/react'
import userEvent from '@testing-library/user-event'
import type { ActionLog } from '../../../src/contract/actionLog'
import { sectionToggled } from '../../../src/web/features/overview/overviewSlice'
import { AuthenticatorStep } from '../../../src/web/features/auth/registration/AuthenticatorStep'
import { hashOf } from '../../../src/web/actionLog/replay/hash'
import { checksumOf } from '../../../src/web/actionLog/replay/checksum'
import { ReplayApp } from '../../../src/web/actionLog/ReplayApp'

const root = join(__dirname, '../../..')
const folder = join(root, 'test/replays')
const recorded = readFileSync(
  join(
    folder,
    readdirSync(folder).find((name) => name.endsWith('.json'))!,
  ),
  'utf8',
)

/** The recorded log with a change, as JSON. */
const changed = (change: (log: ActionLog) => unknown) => {
  const log = JSON.parse(recorded) as ActionLog
  change(log)
  return JSON.stringify(log)
}
/** The recorded log with a forged action at the start. */
const withAction = (type: string, payload: unknown) =>
  changed(({ actions }) => actions.unshift({ at: 0, type, payload, changed: {} }))
const deep = (levels: number) => `${'['.repeat(levels)}${']'.repeat(levels)}`

const refused: [string, string | Buffer, string][] = [
  ['no content', '', 'The file is empty.'],
  ['another encoding', Buffer.from(`\uFEFF${recorded}`, 'utf16le'), 'The file is not valid JSON, or it is incomplete:'],
  ['half a log', recorded.slice(0, 1000), 'The file is not valid JSON, or it is incomplete: line 1, column 1001.'],
  ['a start time out of range', changed((log) => (log.startedAt = 1e20)), 'The file is damaged at startedAt:'],
  [
    'an action time out of range',
    changed((log) => (log.actions[3]!.at = 1e300)),
    'The file is damaged at actions.3.at:',
  ],
  ['a route that is not a string', changed((log) => (log.route = 7 as never)), 'The file is damaged at route:'],
  [
    'a base state with a route that is not a string',
    changed((log) => (log.base.route = {} as never)),
    'The file is damaged at base.route:',
  ],
  [
    'a route change that is not a string',
    withAction('route/changed', { pathname: '/' }),
    'The file is damaged at actions.0.payload:',
  ],
  [
    'two billion lines in one number',
    withAction('console/linesReceived', [2e9]),
    'The file is damaged at actions.0.payload.0:',
  ],
  [
    'line counts with too large a sum',
    withAction('console/linesReceived', [20_000, 20_000]),
    'The file is damaged at actions.0.payload: has more than 20000 lines.',
  ],
  [
    'a __proto__ key',
    changed((log) => (log.base.here = 1)).replace('"here":1', '"__proto__":{"polluted":1}'),
    'The file is damaged: it contains the forbidden name __proto__.',
  ],
  [
    'a __proto__ cache tag',
    withAction('api/invalidation/updateProvidedBy', [
      { queryCacheKey: 'polluted', providedTags: [{ type: '__proto__', id: 'x' }] },
    ]),
    'The file is damaged: it contains the forbidden name __proto__.',
  ],
  [
    'lines that are not a list',
    withAction('console/linesReceived', 'many'),
    'The file is damaged at actions.0.payload:',
  ],
  [
    'more actions than a log keeps',
    changed((log) => (log.actions = Array.from({ length: 2001 }, () => log.actions[0]!))),
    'The file is damaged at actions:',
  ],
  [
    'deeply nested values',
    changed((log) => (log.base.deep = 'here')).replace('"here"', deep(50_000)),
    'The file is damaged: its values are nested deeper than 200 levels.',
  ],
  [
    'a large text that each action puts into a new state',
    changed((log) => {
      log.base.overview = { collapsed: [], here: 'x'.repeat(20_000_000) }
      log.actions = Array.from({ length: 2000 }, () => ({ at: 0, ...sectionToggled('world'), changed: {} }))
    }),
    'The file is damaged: the states before action 100 are too large to be compared with each other.',
  ],
  [
    'another final state',
    changed((log) => (log.final.theme = 'another')),
    'The file is damaged at final: the state does not match its hash.',
  ],
  [
    'another version',
    changed((log) => (log.version = 99 as never)),
    'The file has version 99, but this console reads version 1.',
  ],
]

/** Logs that are accepted, with the expected warning. */
const played: [string, string, RegExp][] = [
  [
    'a byte order mark',
    `\uFEFF${recorded}`,
    /^The log was recorded with build \S+, but this is build source\. The builds may cause differences\.$/,
  ],
  [
    'changed times',
    changed((log) => {
      log.sum = checksumOf(log)
      for (const action of log.actions) action.at *= 2
    }),
    /The file was changed after it was exported\.$/,
  ],
  [
    'another base theme and no actions',
    changed((log) => {
      Object.assign(log, { actions: [], final: log.base, hash: hashOf(log.base), sum: undefined })
      log.base = { ...log.base, theme: 'dark' }
    }),
    /The final state differs from the recording: theme\.$/,
  ],
  [
    'an action named like a property of each object',
    withAction('constructor', 1),
    /The file was changed after it was exported\. 1 action changed the state differently than recorded\.$/,
  ],
]

const directory = mkdtempSync(join(tmpdir(), 'quarterdeck-tampered-'))
afterAll(() => rmSync(directory, { recursive: true, force: true }))

let said = ''
beforeAll(() => {
  const files = [...refused, ...played].map(([name, text]) => {
    const file = join(directory, `${name}.json`)
    writeFileSync(file, text)
    return file
  })
  const long = join(directory, 'long.json')
  writeFileSync(long, '')
  truncateSync(long, 600 * 2 ** 20)
  const { stdout, stderr } = spawnSync(
    process.execPath,
    ['--require', 'tsx/cjs', 'test/replays/replay.ts', ...files, long],
    { cwd: root, encoding: 'utf8', maxBuffer: 2 ** 26 },
  )
  said = stdout + stderr
}, 120_000)
/** The output of the replay command for a file. */
const saidOf = (name: string) =>
  said.split('\n').flatMap((line) => line.split(`${join(directory, name)}.json: `)[1] ?? [])

// Files of jsdom have no arrayBuffer().
const fileOf = (content: string | Buffer) =>
  Object.assign(new File([], 'log.json', { type: 'application/json' }), {
    arrayBuffer: async () => (typeof content === 'string' ? new TextEncoder().encode(content) : content),
  })
async function choose(file: File) {
  render(<ReplayApp />)
  await userEvent.setup().upload(screen.getByLabelText('Choose file'), file)
}

test.each(refused)(
  'a log with %s is rejected by the browser and the command line with the same message',
  async (name, text, words) => {
    await choose(fileOf(text))
    const announced = (await screen.findByRole('alert')).textContent
    expect(announced).toContain(words)
    expect(saidOf(name)).toEqual([announced])
  },
)

test.each(played)(
  'a log with %s is played by the browser and the command line with the same warning',
  async (name, text, words) => {
    await choose(fileOf(text))
    const bar = await screen.findByRole('region', { name: 'Replay' })
    await waitFor(() => expect(bar).toHaveTextContent('0 of'))
    const announced = bar.querySelector('[role="status"]')!.textContent
    expect(announced).toMatch(words)
    expect(saidOf(name).slice(0, -1).join(' ')).toBe(announced)
  },
)

test('a file of 600 MB is rejected because of its size without being read', async () => {
  const words = 'The size of the file is 600.00 MB. An action log has at most 50.00 MB.'
  const arrayBuffer = jest.fn()
  await choose(
    Object.assign(
      Object.defineProperty(new File([''], 'long.json', { type: 'application/json' }), 'size', {
        value: 600 * 2 ** 20,
      }),
      { arrayBuffer },
    ),
  )
  expect(await screen.findByRole('alert')).toHaveTextContent(words)
  expect(arrayBuffer).not.toHaveBeenCalled()
  expect(saidOf('long')).toEqual([words])
})

test.each(['/api/auth/logout', 'https://other.example/x.png', 'javascript:alert(1)'])(
  'a forged image URL in a log is not requested: %s',
  (qrCode) => {
    const { container } = render(
      <AuthenticatorStep qrCode={qrCode} secret="JBSWY3DP" busy={false} onSubmit={async () => ({})} />,
    )
    expect(container.querySelector('img')).toBeNull()
  },
)
