import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { preProcessFile } from 'typescript'

const root = join(__dirname, '../../src')

/** The files of ours that a file imports, for their values or only for their types. */
function importsOf(file: string): string[] {
  return preProcessFile(readFileSync(file, 'utf8'))
    .importedFiles.filter(({ fileName }) => fileName.startsWith('.'))
    .flatMap(({ fileName }) => ['.ts', '.tsx'].map((extension) => join(dirname(file), fileName + extension)))
    .filter((path) => existsSync(path))
}

/** Returns the files of the first cycle, in the order of their imports. */
function findCycle(files: string[]): string[] {
  const done = new Set<string>()
  const visit = (file: string, path: string[]): string[] => {
    if (path.includes(file)) return [...path.slice(path.indexOf(file)), file]
    if (done.has(file)) return []
    for (const imported of importsOf(file)) {
      const cycle = visit(imported, [...path, file])
      if (cycle.length > 0) return cycle
    }
    done.add(file)
    return []
  }
  for (const file of files) {
    const cycle = visit(file, [])
    if (cycle.length > 0) return cycle
  }
  return []
}

// The linter's rule (`import-x/no-cycle`) does not follow imports of types.
test('no file of src imports itself through others, not even for a type', () => {
  const files = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter((name) => /\.tsx?$/.test(name))
  expect(files.length).toBeGreaterThan(500)
  expect(findCycle(files.map((name) => join(root, name))).map((file) => relative(root, file))).toEqual([])
})
