import { createDefinitionReader } from '../../../src/platform/deployments/definitionReader'

const [ann, bob] = [1, 2]
const textOf = (name: string) => `name: ${name}\ntype: process\ndataDirectory: /${name}\nrun:\n  command: [x]\n`

test('definitions are read one at a time, alternating between users, with other work in between', async () => {
  const read = createDefinitionReader()
  const happened: string[] = []
  let isOver = false
  const others = () => {
    if (happened.at(-1) !== 'others') happened.push('others')
    if (!isOver) setImmediate(others)
  }
  const reading = (userId: number, name: string) =>
    read(userId, textOf(name), { name, type: 'process' }).then((definition) => happened.push(definition.name))
  others()
  await Promise.all([reading(ann, 'ann-1'), reading(ann, 'ann-2'), reading(ann, 'ann-3'), reading(bob, 'bob-1')])
  isOver = true
  expect(happened.filter((name) => name !== 'others')).toEqual(['ann-1', 'bob-1', 'ann-2', 'ann-3'])
  expect(happened).toEqual(['others', 'ann-1', 'others', 'bob-1', 'others', 'ann-2', 'others', 'ann-3'])
})

test('an invalid text fails only for its sender, and the next text is read', async () => {
  const read = createDefinitionReader()
  const results = await Promise.allSettled(['x: 1', textOf('a'), '[', textOf('b')].map((text) => read(ann, text, {})))
  expect(results.map(({ status }) => status)).toEqual(['rejected', 'fulfilled', 'rejected', 'fulfilled'])
  expect(results[0]).toMatchObject({ reason: { code: 'INVALID_DEFINITION' } })
})

test('at most a hundred texts per user are queued; other users are not refused, and each text that is read makes room', async () => {
  const read = createDefinitionReader()
  const results = await Promise.allSettled([
    ...Array.from({ length: 103 }, () => read(ann, textOf('a'), {})),
    read(bob, textOf('b'), {}),
  ])
  const refused = results.flatMap((result) => (result.status === 'rejected' ? [result.reason as unknown] : []))
  expect(refused).toEqual(
    Array.from({ length: 3 }, () => expect.objectContaining({ code: 'TOO_MANY_TRIES' }) as unknown),
  )
  expect(results.at(-1)?.status).toBe('fulfilled')
  expect(await read(ann, textOf('a'), {})).toMatchObject({ name: 'a' })
})
