#!/usr/bin/env node
/**
 * Runs before start, dev and test, and needs nothing but Node.js. Installs packages when package-lock.json has changed,
 * and builds when a source has changed; otherwise it only compares two hashes. For tests it also installs a browser and
 * the other programs that they use.
 *
 *   node src/setup.js build [--force] | dev | install | test
 */
const { spawn, spawnSync } = require('node:child_process')
const { createHash } = require('node:crypto')
const {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} = require('node:fs')
const { join, relative, resolve } = require('node:path')
const zlib = require('node:zlib')

const root = resolve(__dirname, '..')
const installStamp = join(root, 'node_modules', '.quarterdeck')
const buildStamp = join(root, 'dist', '.stamp')
/** Contains Swagger UI. The package of Swagger UI itself reports each installation to a third party. */
const REFERENCE_PACKAGE = 'node_modules/@fastify/swagger-ui'

const COMMANDS = ['build', 'dev', 'install', 'test']

const [command = 'build', option, ...others] = process.argv.slice(2)
const isKnown = option === undefined || (command === 'build' && option === '--force')
if (!COMMANDS.includes(command) || !isKnown || others.length > 0)
  fail(
    `Unknown arguments: ${process.argv.slice(2).join(' ')}. Usage: node src/setup.js build [--force] | dev | install | test`,
  )
checkNode()
install()
if (command === 'dev') develop()
else if (command !== 'install') build(option === '--force')
if (command === 'test') {
  findOrInstallBrowser()
  installContainerPrograms()
  installGameServer()
  buildFerretdb()
  installSchemathesis()
  if (!process.env.QUARTERDECK_TEST_CLUSTER)
    say('NO CLUSTER: QUARTERDECK_TEST_CLUSTER names none, so the tests with Kubernetes will be SKIPPED.')
}

function checkNode() {
  const [major, minor] = process.versions.node.split('.').map(Number)
  const isSupported = major > 20 || (major === 20 && minor >= 19)
  if (!isSupported) fail(`Quarterdeck needs Node.js 20.19 or newer; this is ${process.versions.node}.`)
}

function install() {
  const hash = hashOf(['package.json', 'package-lock.json'])
  if (read(installStamp) === hash) return
  say('Installing packages …')
  // Building needs the development packages, whatever NODE_ENV says.
  npm(['ci', '--include=dev', '--no-audit', '--no-fund', '--loglevel=error'])
  writeFileSync(installStamp, hash)
}

function build(force) {
  const hash = hashOf([
    ...filesBelow('src'),
    ...filesBelow('public'),
    'webpack.config.js',
    'babel.config.js',
    'package-lock.json',
  ])
  if (!force && read(buildStamp) === hash) return
  say('Building …')
  rmSync(join(root, 'dist'), { recursive: true, force: true })
  bin('babel', ['src', '--ignore', 'src/web', '--extensions', '.ts', '--out-dir', 'dist', '--quiet'])
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  bin('webpack', ['--mode', 'production'], { QUARTERDECK_BUILD: `${version}+${hash.slice(0, 8)}` })
  copyReference()
  writeNotices()
  compress(join(root, 'dist', 'web'))
  compress(join(root, 'dist', 'reference'))
  // Written last, so that an interrupted build is repeated.
  writeFileSync(buildStamp, hash)
}

/** The page at /api/docs, which is no part of the console: Swagger UI as its package has it. */
function copyReference() {
  const directory = join(root, 'dist', 'reference')
  cpSync(join(root, 'public', 'reference'), directory, { recursive: true })
  for (const name of ['swagger-ui.css', 'swagger-ui-bundle.js'])
    cpSync(join(root, REFERENCE_PACKAGE, 'static', name), join(directory, name))
}

/** The texts that the licences of shipped packages require; the user menu links to them. */
function writeNotices() {
  const { collectNotices, noticesText } = require('./notices')
  const bundled = JSON.parse(readFileSync(join(root, 'dist', 'bundled-packages.json'), 'utf8'))
  writeFileSync(
    join(root, 'dist', 'web', 'third-party-notices.txt'),
    noticesText(collectNotices(root, [...bundled, REFERENCE_PACKAGE])),
  )
}

/** Compresses files at build time, so that the platform need not do it for each request. */
function compress(directory) {
  for (const file of filesBelow(relative(root, directory))) {
    if (!/\.(?:js|css|html|svg|json|txt|webmanifest)$/.test(file)) continue
    const bytes = readFileSync(join(root, file))
    writeFileSync(join(root, `${file}.gz`), zlib.gzipSync(bytes, { level: 9 }))
    writeFileSync(join(root, `${file}.br`), zlib.brotliCompressSync(bytes))
  }
}

/**
 * Serves the console with live reload, and runs the platform, restarted on changes, unless QUARTERDECK_PLATFORM_URL
 * names another one.
 */
function develop() {
  const children = [['webpack', ['serve', '--mode', 'development']]]
  if (!process.env.QUARTERDECK_PLATFORM_URL)
    children.push(['tsx', ['watch', '--clear-screen=false', 'src/platform/main.ts']])
  const running = children.map(([name, args]) =>
    spawn(process.execPath, [binPath(name), ...args], { cwd: root, stdio: 'inherit' }),
  )
  const end = (code) => {
    process.exitCode ||= code ?? 0
    for (const child of running) child.kill('SIGTERM')
  }
  for (const child of running) child.on('exit', end)
  for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => end(0))
}

/**
 * For browser tests: an installed Chromium, otherwise that of Playwright, otherwise (as root) the package of Debian.
 */
function findOrInstallBrowser() {
  const { findBrowser } = require('../test/support/browser/findBrowser')
  if (findBrowser()) return
  say('Installing a Chromium for the browser tests …')
  const quick = { PLAYWRIGHT_DOWNLOAD_CONNECTION_TIMEOUT: '5000' }
  tryTo([process.execPath, join(root, 'node_modules/playwright-core/cli.js'), 'install', 'chromium'], quick, 300_000)
  if (!findBrowser()) installDebianPackages(['chromium'])
  if (!findBrowser())
    say('NO BROWSER: the browser tests will be SKIPPED. Install Chromium, or name one in CHROMIUM_PATH.')
}

/** Tests run instances in containers, as the product does where these programs are installed. */
function installContainerPrograms() {
  const programs = ['runc', 'conmon', 'socat']
  const places = [...(process.env.PATH ?? '').split(':'), '/usr/sbin', '/sbin', '/usr/libexec/podman']
  const missing = programs.filter((program) => !places.some((place) => existsSync(join(place, program))))
  if (missing.length === 0) return
  say(`Installing ${missing.join(', ')} for the tests with contained instances …`)
  if (!installDebianPackages(missing))
    say(
      `NO CONTAINERS: ${missing.join(', ')} could not be installed, so the tests with contained instances will be SKIPPED.`,
    )
}

/** Works as root on Debian and its derivatives only. @returns whether the packages were installed */
function installDebianPackages(names) {
  if (process.getuid?.() !== 0 || !existsSync('/usr/bin/apt-get')) return false
  tryTo(['apt-get', 'update', '-qq'], {}, 300_000)
  return tryTo(
    ['apt-get', 'install', '-y', '-qq', '--no-install-recommends', ...names],
    { DEBIAN_FRONTEND: 'noninteractive' },
    600_000,
  )
}

/** A few tests run a real game server. */
function installGameServer() {
  const { spec, directory, stamp } = require('../test/support/gameServerPackage')
  if (existsSync(stamp)) return
  say(`Installing ${spec} for the tests with a real game server …`)
  rmSync(directory, { recursive: true, force: true })
  mkdirSync(directory, { recursive: true })
  const [program, ...args] = npmCommand([
    'install',
    '--prefix',
    directory,
    '--no-save',
    '--ignore-scripts',
    '--no-audit',
    '--no-fund',
    '--loglevel=error',
    spec,
  ])
  if (tryTo([program, ...args], {}, 300_000)) writeFileSync(stamp, '')
  else say(`NO GAME SERVER: ${spec} could not be installed, so the tests with a real game server will be SKIPPED.`)
}

/** Tests the description of the API, where Python is installed. */
function installSchemathesis() {
  const { spec, directory, stamp } = require('../test/support/schemathesisProgram')
  if (existsSync(stamp)) return
  say(`Installing ${spec} for the test of the API’s description …`)
  rmSync(directory, { recursive: true, force: true })
  const python = join(directory, 'bin', 'python')
  const isInstalled =
    tryTo(['python3', '-m', 'venv', directory], {}, 120_000) &&
    tryTo([python, '-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', spec], {}, 300_000)
  if (isInstalled) writeFileSync(stamp, '')
  else
    say(
      `NO SCHEMATHESIS: ${spec} could not be installed (that needs Python 3.11 or newer), so its test will be SKIPPED.`,
    )
}

/**
 * MongoDB databases are tested on a mongod of the PATH, otherwise on FerretDB, which is built where Go is installed.
 */
function buildFerretdb() {
  const { module, version, directory, folder } = require('../test/support/ferretdbProgram')
  if (folder() || hasProgram('mongod', '--version')) return
  const source = join(directory, 'source')
  rmSync(directory, { recursive: true, force: true })
  const isBuilt = hasProgram('go', 'version') && compileFerretdb({ module, version, directory, source })
  rmSync(source, { recursive: true, force: true })
  if (isBuilt) renameSync(join(directory, 'ferretdb.new'), join(directory, 'ferretdb'))
  else
    say(
      'NO MONGODB: there is no mongod, and FerretDB could not be built (that needs Go 1.24 or newer), so the tests with MongoDB will be SKIPPED.',
    )
}

/**
 * Builds `ferretdb.new`. Not with `go install`: FerretDB does not run without a version.txt, which its module lacks.
 */
function compileFerretdb({ module, version, directory, source }) {
  say(`Building FerretDB ${version} for the tests with MongoDB (about a minute, once) …`)
  mkdirSync(directory, { recursive: true })
  const { stdout } = spawnSync('go', ['mod', 'download', '-json', `${module}@v${version}`], {
    cwd: directory,
    encoding: 'utf8',
    env: { ...process.env, GOFLAGS: '-mod=mod' },
    timeout: 300_000,
  })
  const downloaded = /"Dir": "(.+)"/.exec(stdout ?? '')?.[1]
  if (!downloaded) return false
  cpSync(downloaded, source, { recursive: true })
  // The files of Go's module cache are read-only.
  for (const path of ['', ...readdirSync(source, { recursive: true })]) chmodSync(join(source, path), 0o755)
  writeFileSync(join(source, 'build/version/version.txt'), `v${version}\n`)
  const options = ['-mod=mod', '-buildvcs=false', '-trimpath', '-o', join(directory, 'ferretdb.new')]
  return tryTo(['go', '-C', source, 'build', ...options, './cmd/ferretdb'], {}, 900_000)
}

function hasProgram(program, ...args) {
  return spawnSync(program, args, { stdio: 'ignore' }).status === 0
}

/** @param timeout in milliseconds. @returns whether the program succeeded */
function tryTo([program, ...args], env, timeout) {
  const { status } = spawnSync(program, args, {
    cwd: root,
    stdio: ['ignore', 'ignore', 'inherit'],
    env: { ...process.env, ...env },
    timeout,
  })
  return status === 0
}

function npm(args) {
  const [program, ...rest] = npmCommand(args)
  run(program, rest)
}

/** Started by npm, this process uses the same npm again, which may not be the one on the PATH. */
function npmCommand(args) {
  const cli = process.env.npm_execpath
  return cli ? [process.execPath, cli, ...args] : ['npm', ...args]
}

function bin(name, args, env = {}) {
  run(process.execPath, [binPath(name), ...args], env)
}

function binPath(name) {
  return join(root, 'node_modules', '.bin', name)
}

function run(program, args, env = {}) {
  const { status, error } = spawnSync(program, args, { cwd: root, stdio: 'inherit', env: { ...process.env, ...env } })
  if (status !== 0)
    fail(error ? `${program} could not be run: ${error.message}` : 'That did not work; the lines above say why.')
}

function filesBelow(directory) {
  const path = join(root, directory)
  if (!existsSync(path)) return []
  return readdirSync(path, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(root, join(entry.parentPath, entry.name)))
    .sort()
}

function hashOf(files) {
  const hash = createHash('sha256').update(process.versions.modules)
  for (const file of files)
    hash
      .update(file)
      .update('\0')
      .update(read(join(root, file)) ?? '')
  return hash.digest('hex')
}

function read(file) {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return undefined
  }
}

function say(text) {
  console.log(text)
}

function fail(text) {
  console.error(text)
  process.exit(1)
}
