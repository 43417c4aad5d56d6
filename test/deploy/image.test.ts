import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import {
  buildPlatformImage,
  canBuildImage,
  imageBuilder,
  PLATFORM_IMAGE,
} from '../support/platform/inCluster/platformImage'

// With the installation of all packages and a build.
jest.setTimeout(1_800_000)
const run = promisify(execFile)

interface Findings {
  uid: number
  /** Directories that the platform's user can write. */
  writable: string[]
  hasCompilers: boolean
  health: number
  /** Exit code of the platform after SIGTERM. */
  code: number
}

/** Runs inside the container, starts the platform there, and prints findings. */
const EXAMINE = `
const { spawn } = require('node:child_process')
const { accessSync, constants, existsSync } = require('node:fs')

function isWritable(path) {
  try {
    accessSync(path, constants.W_OK)
    return true
  } catch {
    return false
  }
}

async function examine() {
  const settings = { QUARTERDECK_HOST: '127.0.0.1', QUARTERDECK_PORT: '18437', QUARTERDECK_SAMPLE: 'off' }
  const platform = spawn('node', ['dist/platform/main.js'], {
    env: { ...process.env, ...settings },
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  const ended = new Promise((done) => platform.on('exit', done))
  let health = 0
  for (const deadline = Date.now() + 60_000; health !== 200 && Date.now() < deadline; ) {
    await new Promise((done) => setTimeout(done, 200))
    const answer = await fetch('http://127.0.0.1:18437/api/health').catch(() => ({ status: 0 }))
    health = answer.status
  }
  platform.kill('SIGTERM')
  const findings = {
    uid: process.getuid(),
    writable: ['/', '/etc', '/opt/quarterdeck', '/data', '/share', '/tmp'].filter(isWritable),
    hasCompilers: existsSync('node_modules/webpack') || existsSync('node_modules/typescript'),
    health,
    code: await ended,
  }
  console.log(JSON.stringify(findings))
}
examine()
`

async function runInImage(program: string): Promise<string> {
  if (imageBuilder === 'docker')
    return (await run('docker', ['run', '--rm', '--entrypoint=node', PLATFORM_IMAGE, '-e', program])).stdout
  const container = (await run('buildah', ['from', '--pull=false', PLATFORM_IMAGE])).stdout.trim()
  try {
    return (await run('buildah', ['run', container, '--', 'node', '-e', program])).stdout
  } finally {
    await run('buildah', ['rm', container])
  }
}

;(canBuildImage ? test : test.skip)(
  'the image is built, and the platform in it starts without root and ends on SIGTERM (skipped without buildah or docker, or without TEST_BASE_IMAGE)',
  async () => {
    await buildPlatformImage()
    const answer = await runInImage(EXAMINE)
    expect(JSON.parse(answer) as Findings).toEqual({
      uid: 10001,
      writable: ['/data', '/share', '/tmp'],
      hasCompilers: false,
      health: 200,
      code: 0,
    })
  },
)
