import { DeploymentType } from '../../../src/contract/deployment'
import { readDefinition } from '../../../src/contract/definitionText'
import { newDefinition } from '../../../src/platform/deployments/templates'

test.each(DeploymentType.options)(
  'decisions §4: a new %s starts with a valid text whose comments are aligned',
  (type) => {
    const text = newDefinition({ name: 'lobby', type, node: 'node-a' })
    expect(readDefinition(text)).toEqual({
      definition: expect.objectContaining({ name: 'lobby', type, dataDirectory: '/lobby' }),
    })
    // A short setting is padded up to its comment; a long one is followed by its comment directly.
    const columns = text.split('\n').flatMap((line) => /^(.{0,29}?\S) +# /.exec(line)?.[0].length ?? [])
    expect(columns.length).toBeGreaterThan(3)
    expect(new Set(columns).size).toBe(1)
  },
)

test.each([
  ['scalable', /^data: copy +# .*what it writes is gone at its next start$/m],
  ['process', /^data: shared +# .*copy: what it writes is gone at its next start$/m],
] as const)('§13 the text of a new %s says where its instances write', (type, line) => {
  expect(newDefinition({ name: 'lobby', type })).toMatch(line)
})

test('the text of a new scalable deployment says where its further instances listen', () => {
  expect(newDefinition({ name: 'lobby', type: 'scalable' })).toMatch(
    /port: 25565 +# .*further instances take the ports after it/,
  )
})
