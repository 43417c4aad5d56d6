const {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} = require('node:fs')
const { dirname, join, relative } = require('node:path')
const { transformSync } = require('@babel/core')

const root = join(__dirname, '../..')
/** The compiled platform for processes that tests start: from source each would first compile for a second or two. */
const PROGRAMS = join(root, '.cache', 'programs')

/** Compiles what has changed since the last run. */
function compilePrograms() {
  const options = { cwd: root, configFile: join(root, 'babel.config.js') }
  const settings = ['babel.config.js', 'package-lock.json'].map((name) => statSync(join(root, name)).mtimeMs)
  for (const folder of ['contract', 'platform', 'cli']) {
    for (const name of readdirSync(join(root, 'src', folder), { recursive: true })) {
      if (!name.endsWith('.ts')) continue
      const source = join(root, 'src', folder, name)
      const target = join(PROGRAMS, folder, name.replace(/\.ts$/, '.js'))
      const { mtime, mtimeMs } = statSync(source)
      // The output gets the time of its source, so that an older source, as of another branch, counts as a change.
      const made = statSync(target, { throwIfNoEntry: false })
      if (made && Math.abs(made.mtimeMs - mtimeMs) < 1 && settings.every((time) => time < made.ctimeMs)) continue
      mkdirSync(dirname(target), { recursive: true })
      // Replaced atomically, because another run may start the program meanwhile.
      const unfinished = `${target}.${process.pid}`
      writeFileSync(
        unfinished,
        transformSync(readFileSync(source, 'utf8'), { ...options, filename: relative(root, source) }).code,
      )
      utimesSync(unfinished, mtime, mtime)
      renameSync(unfinished, target)
    }
    // All files in the folder of migrations are applied, so outputs without a source are removed.
    const compiled = join(PROGRAMS, folder)
    for (const name of readdirSync(compiled, { recursive: true })) {
      if (name.endsWith('.js') && !existsSync(join(root, 'src', folder, name.replace(/\.js$/, '.ts'))))
        rmSync(join(compiled, name), { force: true })
    }
  }
}

module.exports = { PROGRAMS, compilePrograms }
