import { expectProofs, readTable, rowsOf, type Row } from './namedTests'

/** `test/PRODUCT.md` lists the sentences of product.md with their tests; this file keeps the list consistent. */
const markdown = readTable('PRODUCT.md')
const rows = rowsOf(markdown)

/** The number of sentences in each section of product.md. */
const sections: [heading: string, sentences: number][] = [
  ['0. Before the first section', 3],
  ['1. What the product does and for whom', 10],
  ['2. Screens and routes', 141],
  ['3. Entities and their fields', 37],
  ['4. States and transitions', 40],
  ['5. Validation rules', 27],
  ['6. Roles and permissions', 12],
  ['7. The calls it makes', 65],
  ['8. The error catalogue', 56],
  ['9. Business constants and limits', 26],
]

test('PRODUCT.md lists all sections and sentences of product.md, numbered without gaps', () => {
  expect(markdown.match(/^## .+$/gm)).toEqual(sections.map(([heading]) => `## ${heading}`))
  const numbers = sections.flatMap(([heading, sentences]) =>
    Array.from({ length: sentences }, (_sentence, at) => `${parseInt(heading)}.${at + 1}`),
  )
  expect(rows.map(({ number }) => number)).toEqual(numbers)
  for (const { number, text } of rows) expect([number, text]).toEqual([number, expect.stringMatching(/\S/)])
})

test.each(rows.map((row): [string, Row] => [row.number, row]))(
  'sentence %s of PRODUCT.md names existing tests or a reason',
  (_number, { proofs, result }) => {
    expectProofs(proofs)
    expect(result).toMatch(proofs.length > 0 ? /^Holds\.$/ : /^Not tested: .{20,}/)
  },
)
