import { expectProofs, readTable, rowsOf, type Row } from './namedTests'

/** `test/SECURITY.md` names the tests of each case; this file keeps the table consistent. */
const rows = rowsOf(readTable('SECURITY.md'))

/** Raise it with each new case. */
const CASES = 253

test('SECURITY.md lists all cases in order', () => {
  expect(rows.map(({ number }) => Number(number))).toEqual(Array.from({ length: CASES }, (_case, at) => at + 1))
  for (const { number, text } of rows) expect([number, text]).toEqual([number, expect.stringContaining(' → ')])
})

test.each(rows.map((row): [string, Row] => [row.number, row]))(
  'case %s of SECURITY.md names existing tests',
  (_number, { proofs, result }) => {
    expectProofs(proofs)
    // A case without a test, or with a benchmark only, has a reason.
    if (!proofs.some((proof) => proof.includes('`: '))) expect(result).toMatch(/^(?!Holds\.$).{20,}/)
    expect(result).not.toBe('')
  },
)
