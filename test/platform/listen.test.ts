import { once } from 'node:events'
import { readdirSync, readlinkSync } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import { join } from 'node:path'
import { warnOfFreePort } from '../../src/platform/listen'
import { lockOwner } from '../../src/platform/processLock'
import { killLeftovers, runProgram, type RunningProgram } from '../support/platform/runPlatform'
import { processesOf } from '../support/platform/processesOf'
import { useTemporaryDirectory } from '../support/platform/temporaryDirectory'
import { until } from '../support/platform/until'

jest.setTimeout(120_000)

/** Acts as systemd: holds the socket, passes it as sd_listen_fds(3) describes, and starts the program twice. */
const SERVICE_MANAGER = `
run() { sh -c 'LISTEN_PID=$$ exec "$@"' sh "$@"; }
run "$@"
run "$@"
`

let manager: RunningProgram | undefined
const directory = useTemporaryDirectory()
afterAll(killLeftovers)
const dataDir = () => join(directory(), 'data')

async function startOnPassedSocket(settings: Record<string, string>): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const { fd } = (server as unknown as { _handle: { fd: number } })._handle
  manager = runProgram('main', settings, ['sh', '-c', SERVICE_MANAGER, 'sh'], fd)
  // From here on only the service manager holds the socket, and accepts nothing.
  server.close()
  return port
}

/** The targets of the open descriptors of a process, such as `socket:[4711]`. */
const descriptorsOf = (pid: number) =>
  readdirSync(`/proc/${pid}/fd`).flatMap((fd) => {
    try {
      return readlinkSync(`/proc/${pid}/fd/${fd}`)
    } catch {
      // The descriptor was closed meanwhile.
      return []
    }
  })

test('security: during a restart calls wait on a socket passed by a service manager, and its port cannot be taken', async () => {
  const port = await startOnPassedSocket({
    QUARTERDECK_DATA_DIR: dataDir(),
    QUARTERDECK_SAMPLE: 'off',
    QUARTERDECK_LOG_LEVEL: 'error',
    // Ignored, because a socket is passed.
    QUARTERDECK_PORT: '1',
    LISTEN_FDS: '1',
  })
  const health = () => fetch(`http://127.0.0.1:${port}/api/health`).then(({ status }) => status)
  const lock = join(dataDir(), 'platform.lock')
  expect(await health()).toBe(200)
  await until(() => manager!.output().stdout.includes(`Quarterdeck is ready: http://127.0.0.1:${port}`))

  const first = lockOwner(lock)!
  const socket = readlinkSync(`/proc/${first}/fd/3`)
  const [postgres = 0] = processesOf(join(dataDir(), 'state'))
  expect(descriptorsOf(first)).toContain(socket)
  expect(descriptorsOf(postgres)).not.toContain(socket)
  process.kill(first, 'SIGTERM')
  await until(() => lockOwner(lock) !== first)
  const thief = createServer()
  thief.listen(port, '127.0.0.1')
  expect(await once(thief, 'error')).toMatchObject([{ code: 'EADDRINUSE' }])
  expect(await health()).toBe(200)

  process.kill(lockOwner(lock)!, 'SIGTERM')
  expect(await manager?.exited).toBe(0)
  expect(manager?.output().stderr).toBe('')
})

test('several passed sockets, and one that is not a listening TCP socket, are refused at the start', async () => {
  const start = (count: string) =>
    runProgram(
      'main',
      { QUARTERDECK_DATA_DIR: dataDir(), QUARTERDECK_SAMPLE: 'off', QUARTERDECK_LOG_LEVEL: 'error', LISTEN_FDS: count },
      ['sh', '-c', 'LISTEN_PID=$$ exec "$@" 3<&0', 'sh'],
    )
  for (const [count, text] of [
    ['2', '2 sockets were passed (LISTEN_FDS): pass one\n'],
    ['1', 'The socket that the service manager passed cannot be used (EINVAL): pass a TCP socket\n'],
  ] as const) {
    const refused = start(count)
    expect(await refused.exited).toBe(1)
    expect(refused.output().stderr).toBe(text)
  }
})

describe('security: the warning about a port that an instance could take during a restart', () => {
  const warnings = async (
    port: number,
    host: string,
    trustedProxies: string[] = [],
    runtime: 'local' | 'kubernetes' = 'local',
  ) => {
    const warn = jest.fn()
    await warnOfFreePort(port, { host, trustedProxies, runtime }, 'contained', { warn })
    return warn.mock.calls.map(([, text]: [unknown, string]) => text)
  }

  test('is logged if other hosts reach the console, directly or through a proxy', async () => {
    const text = expect.stringContaining('an instance may take the port of the console') as string
    expect(await warnings(18_080, '0.0.0.0')).toEqual([text])
    expect(await warnings(18_080, '::')).toEqual([text])
    expect(await warnings(18_080, '127.0.0.1', ['10.0.0.1'])).toEqual([text])
  })

  test('is not logged on localhost only, nor for a port that instances cannot take', async () => {
    expect(await warnings(18_080, '127.0.0.1')).toEqual([])
    expect(await warnings(443, '0.0.0.0')).toEqual([])
  })

  test('is not logged where instances are Pods, which have networks of their own', async () => {
    expect(await warnings(18_080, '0.0.0.0', [], 'kubernetes')).toEqual([])
  })
})
