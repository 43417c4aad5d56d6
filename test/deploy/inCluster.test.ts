import { clusterTitle, hasCluster } from '../support/platform/cluster'
import { freshDatabase } from '../support/platform/freshState'
import { createPanelClient, type ConsoleViewer, type PanelClient } from '../support/platform/inCluster/panelClient'
import { buildPlatformImage, canBuildImage } from '../support/platform/inCluster/platformImage'
import { IN_CLUSTER_MS, startInCluster, type PlatformInCluster } from '../support/platform/inCluster/platformInCluster'
import { until } from '../support/platform/until'

// With the build of the image.
jest.setTimeout(1_800_000)

/** The example of the README: it runs in any image with a shell. */
const DEFINITION = `name: walk
type: process
dataDirectory: /walk
run: { command: [sh, -c, 'echo Ready; while read -r line; do echo "You typed: $line"; done'] }
ready: '^Ready$'
`
/** From SIGTERM to the end of a replica. */
const ENDS_WITHIN_SECONDS = 25
/** From the end of a manager to its successor. */
const TAKEOVER_SECONDS = 15

let state: Awaited<ReturnType<typeof freshDatabase>>
let platform: PlatformInCluster
let panel: PanelClient
let podName: string
let viewer: ConsoleViewer | undefined

const says = (text: string, seconds = 30) =>
  until(
    () => viewer?.lines ?? [],
    (lines) => lines.includes(text),
    seconds,
  )

/** Opens the console at a replica or at the Service. Retries, because replicas come and go. */
const watch = (address?: string) =>
  until(async () => {
    viewer = await (address === undefined ? panel : panel.at(address))
      .openConsole('walk', podName)
      .catch(() => undefined)
    return viewer
  })

async function typeAndRead(text: string): Promise<void> {
  viewer?.type(text)
  await says(`You typed: ${text}`)
}

/**
 * Calls the platform in a loop, on new connections and on a kept one. @returns a function that stops it and returns the
 * failures
 */
function callInALoop(): () => Promise<{ calls: number; failures: string[] }> {
  const clients = [panel.at(platform.address), panel.at(platform.address, { keepAlive: true })]
  let isOver = false
  let calls = 0
  const failures: string[] = []
  const loops = clients.map(async (client) => {
    while (!isOver) {
      const at = new Date().toISOString()
      await client.call('GET', '/api/deployments').catch((error: unknown) => failures.push(`${at} ${String(error)}`))
      calls++
    }
    client.close()
  })
  return async () => {
    isOver = true
    await Promise.all(loops)
    return { calls, failures }
  }
}

;(hasCluster ? describe : describe.skip)(clusterTitle('the platform inside a real cluster, by its manifests'), () => {
  beforeAll(async () => {
    if (canBuildImage) await buildPlatformImage()
    state = await freshDatabase()
    platform = await startInCluster(state.url)
    panel = createPanelClient(platform.address)
  }, 600_000 + IN_CLUSTER_MS)
  afterAll(async () => {
    viewer?.close()
    panel?.close()
    await platform?.stop()
    await state?.drop()
    // The image has hundreds of megabytes.
  }, 300_000)

  test('two replicas become ready in a namespace that admits restricted Pods alone', async () => {
    const pods = await platform.ready()
    expect(pods).toHaveLength(2)
    expect((await panel.send('GET', '/api/health')).status).toBe(200)
    const enforced = 'jsonpath={.metadata.labels.pod-security\\.kubernetes\\.io/enforce}'
    expect(await platform.kubectl('get', 'namespace', 'quarterdeck', '-o', enforced)).toBe('restricted')
  })

  test('the invite code in their log registers the administrator, who signs in and creates a deployment', async () => {
    await panel.registerFirst(await platform.kubectl('logs', 'deployment/quarterdeck'))
    expect(await panel.call('GET', '/api/deployments')).toEqual({ deployments: [] })
    await panel.deploy('walk', 'process', DEFINITION)
    const [instance] = await until(
      () => panel.instancesOf('walk'),
      ([first]) => first?.state === 'RUNNING',
    )
    podName = instance!.podName
    expect(await platform.kubectl('get', 'pod', podName, '-o', 'jsonpath={.status.phase}')).toBe('Running')
  })

  test('a command typed in the console is answered', async () => {
    await watch()
    await typeAndRead('hello')
    viewer?.close()
  })

  test('decisions §15: when the manager’s Pod is killed, the console continues on the other replica, which takes over within 15 s', async () => {
    const manager = (await until(() => platform.manager()))!
    await watch(`${manager.ip}:8080`)
    await typeAndRead('to the manager')
    const killedAt = Date.now()
    await platform.kubectl('delete', 'pod', manager.name, '--grace-period=0', '--force')
    await until(() => viewer?.closeCode !== undefined)
    await watch()
    await typeAndRead('to the other replica')
    // The lines from before are in the state, which both replicas read.
    expect(viewer?.lines).toEqual(expect.arrayContaining(['You typed: hello', 'You typed: to the manager']))
    await until(
      () => platform.manager(),
      (other) => other !== undefined && other.name !== manager.name,
    )
    expect(Date.now() - killedAt).toBeLessThan(TAKEOVER_SECONDS * 1000)
    expect(await panel.instancesOf('walk')).toHaveLength(1)
    await platform.ready()
  })

  test('a rolling update fails no call, tells open consoles to reconnect, and ends each replica within 25 s', async () => {
    const before = await platform.ready()
    await watch(`${before[0]?.ip}:8080`)
    const end = callInALoop()
    const closes = until(() => viewer?.closeCode, Boolean, 120)
    await platform.kubectl('rollout', 'restart', 'deployment/quarterdeck')
    const endings = before.map(({ name }) => secondsToEnd(name))
    await platform.kubectl('rollout', 'status', 'deployment/quarterdeck', '--timeout=120s')
    const seconds = await Promise.all(endings)
    const { calls, failures } = await end()
    expect(failures).toEqual([])
    expect(calls).toBeGreaterThan(50)
    // RFC 6455: the server goes away.
    expect(await closes).toBe(1001)
    expect(Math.max(...seconds)).toBeLessThan(ENDS_WITHIN_SECONDS)
    await watch()
    await typeAndRead('after the update')
    expect(viewer?.lines).toContain('You typed: hello')
  })
})

/** @returns the seconds from the deletion of a Pod until it is gone */
async function secondsToEnd(name: string): Promise<number> {
  const deleted = await until(
    () => platform.kubectl('get', 'pod', name, '--ignore-not-found', '-o', 'jsonpath={.metadata.deletionTimestamp}'),
    Boolean,
    120,
  )
  await platform.kubectl('wait', '--for=delete', `pod/${name}`, '--timeout=60s')
  const graceSeconds = 30
  return Date.now() / 1000 - (Date.parse(deleted) / 1000 - graceSeconds)
}
