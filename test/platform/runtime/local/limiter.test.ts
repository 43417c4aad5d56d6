import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { findResourceLimiter } from '../../../../src/platform/runtime/local/resourceLimiter'
import { useTemporaryDirectory } from '../../../support/platform/temporaryDirectory'

const directory = useTemporaryDirectory()

/** A directory that looks like a cgroup v2 tree, because a test cannot rely on the kernel's own. */
function tree(name: string, controllers: string): string {
  const root = join(directory(), name)
  mkdirSync(root, { recursive: true })
  writeFileSync(join(root, 'cgroup.controllers'), `${controllers}\n`)
  return root
}

test('with cgroup v2 an instance gets its own group with its CPU and memory limits', () => {
  const root = tree('whole', 'cpuset cpu io memory pids')
  const limiter = findResourceLimiter(root)
  expect(limiter.description).toBe('CPU and memory by cgroup v2')
  expect(limiter.apply(4711, 'lobby-0a1b2c', { cores: 0.5, memoryBytes: 2 ** 30 })).toBeUndefined()
  const read = (file: string) => readFileSync(join(root, 'quarterdeck/lobby-0a1b2c', file), 'utf8')
  expect([read('cpu.max'), read('memory.max'), read('cgroup.procs')]).toEqual(['50000 100000', '1073741824', '4711'])
})

test('a CPU limit below the smallest one of the kernel, a hundredth of a core, is raised to that', () => {
  const root = tree('small', 'cpu memory')
  expect(
    findResourceLimiter(root).apply(4711, 'lobby-0a1b2c', { cores: 0.001, memoryBytes: undefined }),
  ).toBeUndefined()
  expect(readFileSync(join(root, 'quarterdeck/lobby-0a1b2c/cpu.max'), 'utf8')).toBe('1000 100000')
})

test('if the kernel accounts swap, an instance with a memory limit gets none', () => {
  const root = tree('swap', 'cpu memory')
  mkdirSync(join(root, 'quarterdeck/lobby-0a1b2c'), { recursive: true })
  const file = join(root, 'quarterdeck/lobby-0a1b2c/memory.swap.max')
  writeFileSync(file, 'max')
  expect(
    findResourceLimiter(root).apply(4711, 'lobby-0a1b2c', { cores: undefined, memoryBytes: 2 ** 30 }),
  ).toBeUndefined()
  expect(readFileSync(file, 'utf8')).toBe('0')
})

test('without a controller or a cgroup tree, the next best limiter is used and described as such', () => {
  for (const root of [tree('partial', 'cpuset pids'), join(directory(), 'nothing')]) {
    expect(findResourceLimiter(root).description).toMatch(/^memory by prlimit|^not enforced/)
  }
})
