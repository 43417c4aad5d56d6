/** @jest-environment node */
import { actionRules, callRules } from '../../../src/web/actionLog/redact/redaction'
import type { Action, Walk } from '../../support/web/secretLeaks'
import { actionsOfCall, allWalks, difference, exportOf, groupsOf, unlike } from '../../support/web/secretLeaks'
import { later } from '../../support/web/exportedLog'
import { payloads } from '../../support/web/loggedSamples/actions'
import { calls } from '../../support/web/loggedSamples/calls'

const SECRETS = ['Kx7vqZ2mWp4', 'hunterbrook', '773177', 'C\u00e4 7&"+\\x/q9', 'uV4xyz', `${'qW3r'.repeat(60)}zz9`]
const SPELLINGS: Record<string, (secret: string) => string> = {
  plain: (secret) => secret,
  'in upper case': (secret) => secret.toUpperCase(),
  'as NFD': (secret) => secret.normalize('NFD'),
  'in a URL': encodeURIComponent,
  'as JSON': (secret) => JSON.stringify(secret).slice(1, -1),
  'as JSON within JSON': (secret) => JSON.stringify(JSON.stringify(secret)).slice(3, -3),
  'in hexadecimal digits': (secret) => Buffer.from(secret).toString('hex'),
  reversed: (secret) => [...secret].reverse().join(''),
  'with an invisible character': (secret) => `${secret.slice(0, 3)}\u200b${secret.slice(3)}`,
  'with a colour': (secret) => `${secret.slice(0, 4)}\u001b[31m${secret.slice(4)}`,
}

/** Actions from which the recorder learns that a text is a secret. */
const typedAsPassword = (password: string) =>
  actionsOfCall('login', { args: { username: 'ann', password } }).slice(0, 1)

/** Requests of different walks must have different ids. */
const withIds = (actions: Action[], id: number): Action[] =>
  actions.map((action) => {
    const { meta } = action as { meta?: { requestId?: string } }
    return meta?.requestId ? { ...action, meta: { ...meta, requestId: `${meta.requestId}-${id}` } } : action
  })

/**
 * Exports the walks with two different secrets. @returns the places in which the logs differ, and so reveal the secret
 */
function leaksOf(
  walks: readonly Walk[],
  secret: string,
  { before = () => [], after = [], spell = (text) => text, withOutput = false }: Partial<Options> = {},
): string[] {
  const logOf = (text: string, of: readonly Walk[]) =>
    exportOf(
      [...before(text), ...of.flatMap(({ actions }, id) => withIds(actions(spell(text)), id)), ...after],
      withOutput,
    )
  const compare = (of: readonly Walk[]) => difference(logOf(secret, of), logOf(unlike(secret), of))
  return groupsOf(walks).flatMap((group) => {
    const differs = compare(group)
    if (differs === '') return []
    const single = group.flatMap((walk) => [compare([walk])].filter(Boolean).map((found) => `${walk.name}: ${found}`))
    return single.length > 0 ? single : [differs]
  })
}
type Options = {
  before: (secret: string) => Action[]
  after: Action[]
  spell: (secret: string) => string
  withOutput: boolean
}

const walks = allWalks()

test('decisions §10: every endpoint and every action has a sample for the search for leaked secrets', () => {
  expect(Object.keys(calls).sort()).toEqual(Object.keys(callRules).sort())
  expect(Object.keys(payloads).sort()).toEqual(Object.keys(actionRules).sort())
})

test('two logs are equal if their walks differ only in a typed text', () => {
  const typed = walks.filter(({ isTyped }) => isTyped)
  for (const secret of [SECRETS[1]!, SECRETS[3]!, 'q7Z', 'q7'])
    expect({ secret, leaks: leaksOf(typed, secret) }).toEqual({ secret, leaks: [] })
})

test('two logs are equal if their walks differ only in a text that was typed before the first recorded action', () => {
  const typed = walks.filter(({ isTyped }) => isTyped)
  for (const secret of [SECRETS[3]!, 'q7'])
    expect({ secret, leaks: leaksOf(typed, secret, { after: later }) }).toEqual({ secret, leaks: [] })
})

/** The username of a successful sign-in is not a secret. */
const hidden = walks.filter(({ name }) => name !== 'login: args.username')
/** Excluded: the length of a command is kept, and the length of an encoded secret depends on its characters. */
const ofSameLength = (secret: string, spell: Options['spell']) =>
  spell(secret).length === spell(unlike(secret)).length ? hidden : hidden.filter(({ of }) => !/command/i.test(of))

// Each place is tested with a few spellings, because all spellings in every place would take a minute.
test.each([0, 5])(
  'two logs are equal if their walks differ only in a password, wherever it appears: spellings from number %i on',
  (first) => {
    const spellings = Object.values(SPELLINGS)
    groupsOf(hidden).forEach((group, index) => {
      const spell = spellings[(first + index) % spellings.length]!
      const secret = SECRETS[(first + index) % SECRETS.length]!
      const found = group.filter((walk) => ofSameLength(secret, spell).includes(walk))
      expect(leaksOf(found, secret, { before: typedAsPassword, spell })).toEqual([])
    })
  },
)

test('two logs with console output are equal if their walks differ only in a password, wherever it is printed', () => {
  const printed = hidden.filter(({ of }) => of === 'console/linesReceived' || of === 'getCrashCapsule')
  Object.entries(SPELLINGS).forEach(([how, spell], index) => {
    const secret = SECRETS[index % SECRETS.length]!
    const leaks = leaksOf(printed, secret, { before: typedAsPassword, spell, withOutput: true })
    expect({ how, leaks }).toEqual({ how, leaks: [] })
  })
})

test('two logs are equal if their walks differ only in a password that was typed before the first recorded action', () =>
  expect(leaksOf(groupsOf(hidden).slice(0, 4).flat(), SECRETS[0]!, { before: typedAsPassword, after: later })).toEqual(
    [],
  ))
