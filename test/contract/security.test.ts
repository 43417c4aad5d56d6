import { expectProofs, readTable, rowsOf, type Row } from './namedTests'

/** `test/SECURITY.md` names for each case the tests that prove it: this keeps the table true. */
const rows = rowsOf(readTable('SECURITY.md'))

test('SECURITY.md holds the sixty cases, each once and in order', () => {
  expect(rows.map(({ number }) => Number(number))).toEqual(Array.from({ length: 60 }, (_case, at) => at + 1))
  for (const { number, text } of rows) expect([number, text]).toEqual([number, expect.stringContaining(' → ')])
})

test.each(rows.map((row): [string, Row] => [row.number, row]))(
  'the tests that SECURITY.md names for case %s are there, under these titles',
  (_number, { proofs, result }) => {
    expectProofs(proofs)
    // A case that only a benchmark proves, or nothing, says why.
    if (!proofs.some((proof) => proof.includes('`: '))) expect(result).toMatch(/^(?!Holds\.$).{20,}/)
    expect(result).not.toBe('')
  },
)
