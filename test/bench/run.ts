import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { median, round, type Figure } from './figures/report'
import { printProfiles } from './figures/profile'
import { ROWS } from './rows'

/**
 * `npm run bench`: the rows of the table, each by its own program. `npm run bench -- NAME`: one program, whether it is
 * a row or not. `--against REV` measures that revision too, in turns; `--rounds N` says how often. `--profile` prints
 * on what the platform spends its time while one program runs.
 */
const here = resolve(__dirname, '../..')

interface Round {
  figures: Figure[]
  failed: boolean
}

/** Runs one program. @param root the checkout that it measures @param isProfiled which makes its figures worse */
async function run(name: string, root: string, isProfiled: boolean): Promise<Round> {
  const directory = mkdtempSync(join(tmpdir(), 'quarterdeck-bench-'))
  const file = join(directory, 'figures')
  const profiles = isProfiled ? join(directory, 'profiles') : undefined
  if (profiles) mkdirSync(profiles)
  try {
    const child = spawn(process.execPath, ['--import', 'tsx', join(__dirname, `${name}.ts`)], {
      stdio: 'inherit',
      env: { ...process.env, BENCH_ROOT: root, BENCH_FIGURES: file, ...(profiles && { BENCH_PROFILE: profiles }) },
    })
    const [code] = (await once(child, 'exit')) as [number | null]
    if (profiles) printProfiles(profiles)
    const lines = existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : []
    return { figures: lines.map((line) => JSON.parse(line) as Figure), failed: code !== 0 }
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}

/** Checks a revision out below `.cache` and builds it. @returns its directory */
function build(revision: string): string {
  const sha = git('rev-parse', '--verify', `${revision}^{commit}`)
  const directory = join(here, '.cache/bench', sha.slice(0, 12))
  if (!existsSync(directory)) git('worktree', 'add', '--detach', directory, sha)
  const lockOf = (root: string) => readFileSync(join(root, 'package-lock.json'), 'utf8')
  const modules = join(directory, 'node_modules')
  // Hard links, because a bundler resolves symbolic ones to paths that webpack.config.js does not name. With other
  // packages, the build installs them.
  if (!existsSync(modules) && lockOf(directory) === lockOf(here))
    spawnSync('cp', ['-al', join(here, 'node_modules'), modules], { stdio: 'inherit' })
  ensureBuild(directory)
  return directory
}

function ensureBuild(root: string): void {
  const { status } = spawnSync(process.execPath, ['src/setup.js', 'build'], { cwd: root, stdio: 'inherit' })
  if (status !== 0) throw new Error(`${root} could not be built`)
}

function git(...args: string[]): string {
  const { status, stdout, stderr } = spawnSync('git', args, { cwd: here, encoding: 'utf8' })
  if (status !== 0) throw new Error(`git ${args.join(' ')}: ${stderr}`)
  return stdout.trim()
}

/** Prints the medians as a Markdown table; with two revisions also their ratio. */
function print(revisions: string[], figures: Map<string, Figure[]>[]): void {
  const whats = [...new Set(figures.flatMap((of) => [...of.keys()]))]
  const rows = whats.map((what) => {
    const all = figures.map((of) => of.get(what) ?? [])
    const medians = all.map((some) => median(some.map(({ value }) => value)))
    const [ours = NaN, theirs] = medians
    const { unit = '', budget, atLeast } = all.flat()[0] ?? {}
    const isKept = budget === undefined || (atLeast ? ours >= budget : ours <= budget)
    return [
      what,
      ...medians.map((value) => (Number.isNaN(value) ? 'not measured' : `${round(value)} ${unit}`.trim())),
      ...(theirs === undefined ? [] : [String(round(ours / theirs))]),
      budget === undefined ? '' : `${atLeast ? '≥' : '≤'} ${budget} ${unit}`.trim(),
      isKept ? '' : 'missed',
    ]
  })
  const head = ['What', ...revisions, ...(revisions.length > 1 ? ['Ratio'] : []), 'Budget', '']
  for (const row of [head, head.map(() => '---'), ...rows]) console.log(`| ${row.join(' | ')} |`)
}

async function main(): Promise<void> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { against: { type: 'string' }, rounds: { type: 'string', default: '3' }, profile: { type: 'boolean' } },
  })
  const unknown = positionals.find((name) => !existsSync(join(__dirname, `${name}.ts`)))
  if (unknown !== undefined) throw new Error(`There is no test/bench/${unknown}.ts`)
  const isTable = positionals.length === 0 || values.against !== undefined
  const names = positionals.length > 0 ? positionals : ROWS
  if (isTable) ensureBuild(here)
  const roots = [here, ...(values.against === undefined ? [] : [build(values.against)])]
  const revisions = ['this checkout', ...(values.against === undefined ? [] : [values.against])]
  const figures = roots.map(() => new Map<string, Figure[]>())
  for (const name of names)
    for (let time = 0; time < (isTable ? Number(values.rounds) : 1); time += 1)
      for (const [at, root] of roots.entries()) {
        if (isTable) console.log(`\n${name}, ${revisions[at]}, ${time + 1} of ${values.rounds}`)
        const measured = await run(name, root, values.profile ?? false)
        if (measured.failed) process.exitCode = 1
        for (const figure of measured.figures)
          figures[at]?.set(figure.what, [...(figures[at].get(figure.what) ?? []), figure])
      }
  if (!isTable) return
  console.log('')
  print(revisions, figures)
}

void main()
