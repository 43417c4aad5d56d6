import { execFileSync, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createListeningSockets } from '../../../src/platform/deployments/monitoring/listeningSockets'
import { watchPlayers } from '../../../src/platform/deployments/monitoring/players'
import { serverListPing } from '../../../src/platform/deployments/monitoring/serverListPing'
import { modules as gameServerModules } from '../../support/gameServerPackage'
import { useDeploymentCalls } from '../../support/platform/deploymentCalls'
import { freePort } from '../../support/platform/freePort'
import { GAME_SERVER, PLAYER } from '../../support/platform/gameServer'
import { hasProgram } from '../../support/platform/hasProgram'
import type { TestPlatform } from '../../support/platform/startPlatform'
import { until } from '../../support/platform/until'

jest.setTimeout(300_000)

const { platform, call, shareDir } = useDeploymentCalls()
const directoryOf = (name: string) => join(shareDir(), name)

interface Seen {
  podName: string
  state: string
  connections: number
  players: Record<string, string>
  playerCount: number | null
}
const instanceOf = async (name: string) => ((await call('GET', `/${name}/instances`)).body.data.instances as Seen[])[0]
const consoleOf = async (name: string) =>
  (await platform().runtime.history((await instanceOf(name))!.podName, 1000)).map(({ content }) => content)

async function run(name: string, content: string): Promise<void> {
  expect(await call('PATCH', `/${name}`, { content })).toMatchObject({ status: 200 })
  expect(await call('POST', `/${name}/toggle`, { enabled: true })).toMatchObject({ status: 200 })
}

const withJdk = hasProgram('javac') && hasProgram('jar') && hasProgram('java') ? test : test.skip

withJdk(
  'decisions §4: a jar runs as container mc: java <javaArgs> -jar <jar> nogui, its ready line, its stop command',
  async () => {
    await call('POST', '', { name: 'world', type: 'persistent', node: 'node-a' })
    const directory = directoryOf('world')
    await writeFile(
      join(directory, 'Main.java'),
      `import java.util.Scanner;
     public class Main {
       public static void main(String[] args) {
         System.out.println("args " + String.join(",", args) + " max " + Runtime.getRuntime().maxMemory() / 1048576);
         System.out.println("Done (1.0s)! For help, type help");
         Scanner in = new Scanner(System.in);
         while (in.hasNextLine()) if (in.nextLine().equals("stop")) { System.out.println("Saving worlds"); System.exit(0); }
       }
     }`,
    )
    execFileSync('javac', ['Main.java'], { cwd: directory })
    execFileSync('jar', ['cfe', 'server.jar', 'Main', 'Main.class'], { cwd: directory })
    await run(
      'world',
      'name: world\ntype: persistent\nnode: node-a\ndataDirectory: /world\nrun: { jar: server.jar, javaArgs: ["-Xmx64M"] }\nstop: { command: stop, timeoutSeconds: 20 }\nready: \'Done \\(\'\n',
    )
    await until(
      () => instanceOf('world'),
      (instance) => instance?.state === 'RUNNING',
      60,
    )
    expect((await consoleOf('world'))[0]).toMatch(/^args nogui max 6\d$/)
    await call('POST', '/world/toggle', { enabled: false })
    const { podName } = (await platform().runtime.list()).find((instance) => instance.podName.startsWith('world-'))!
    await until(
      async () => (await platform().runtime.list()).find((instance) => instance.podName === podName),
      (instance) => instance?.state === 'EXITED',
    )
    expect((await platform().runtime.history(podName, 1000)).map(({ content }) => content)).toContain('Saving worlds')
  },
)

const modules = gameServerModules()
const withGameServer = modules ? test : test.skip

withGameServer('decisions §5: a real game server shows its players', async () => {
  const port = await freePort()
  for (const [name, program] of [
    ['arena', GAME_SERVER],
    ['player', PLAYER],
  ] as const) {
    await mkdir(directoryOf(name), { recursive: true })
    await writeFile(join(directoryOf(name), 'main.js'), program)
  }
  const common = `run: { command: ["node", "main.js"], port: ${port}, env: { NODE_PATH: ${modules} } }\n`
  await call('POST', '', { name: 'arena', type: 'persistent', node: 'node-a' })
  await run(
    'arena',
    `name: arena\ntype: persistent\nnode: node-a\ndataDirectory: /arena\n${common}ready: Done\nstop: { timeoutSeconds: 1 }\n`,
  )
  await until(
    () => instanceOf('arena'),
    (instance) => instance?.state === 'RUNNING',
    60,
  )
  expect(await instanceOf('arena')).toMatchObject({ type: 'minecraft', players: {}, connections: 0, port })
  await until(
    () => instanceOf('arena'),
    (instance) => instance?.playerCount === 0,
    60,
  )

  await call('POST', '', { name: 'player', type: 'process' })
  await run(
    'player',
    `name: player\ntype: process\ndataDirectory: /player\nrun: { command: ["node", "main.js"], env: { NODE_PATH: ${modules}, PORT: ${port} } }\nstop: { timeoutSeconds: 1 }\n`,
  )
  await until(
    () => consoleOf('arena'),
    (lines) => lines.includes('Steve joined the game'),
    60,
  )
  const arena = await until(
    () => instanceOf('arena'),
    (instance) => instance?.connections === 1,
    60,
  )
  expect(Object.entries(arena!.players)).toEqual([[expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-3/), 'Steve']])

  await call('POST', '/player/toggle', { enabled: false })
  await until(
    () => instanceOf('arena'),
    (instance) => instance?.connections === 0,
    60,
  )
})

withGameServer(
  '§14 a real server without a player sample shows its player count; one that does not answer shows unknown',
  async () => {
    const serve = async (name: string, program: string) => {
      await mkdir(directoryOf(name), { recursive: true })
      await writeFile(join(directoryOf(name), 'main.js'), program)
      await call('POST', '', { name, type: 'persistent', node: 'node-a' })
      const settings = `run: { command: ["node", "main.js"], port: ${await freePort()}, env: { NODE_PATH: ${modules}, ONLINE: 5 } }`
      await run(
        name,
        `name: ${name}\ntype: persistent\nnode: node-a\ndataDirectory: /${name}\n${settings}\nready: Done\nstop: { timeoutSeconds: 1 }\n`,
      )
      await until(
        () => instanceOf(name),
        (instance) => instance?.state === 'RUNNING',
        60,
      )
    }
    await serve('shy', GAME_SERVER)
    await until(
      () => instanceOf('shy'),
      (instance) => instance?.playerCount === 5,
      60,
    )
    expect(await instanceOf('shy')).toMatchObject({ players: {}, connections: 5 })
    // A server that accepts connections and stays silent, as if its main thread hung.
    await serve(
      'hung',
      "require('node:net').createServer(() => console.log('asked')).listen(process.env.PORT, '127.0.0.1', () => console.log('Done'))",
    )
    await until(
      () => consoleOf('hung'),
      (lines) => lines.filter((line) => line === 'asked').length >= 2,
      60,
    )
    expect(await instanceOf('hung')).toMatchObject({ playerCount: null, players: {} })
  },
)

withGameServer(
  '§14 players of another program on its port are not shown for an instance that does not listen there',
  async () => {
    const port = await freePort()
    // Starts the server outside of the instance, on the instance's port.
    const outside = spawn('node', ['-e', GAME_SERVER], {
      env: { ...process.env, PORT: String(port), NODE_PATH: modules, ONLINE: '3' },
    })
    try {
      await until(async () => (await serverListPing('127.0.0.1', port, 2000))?.count === 3)
      const definition = {
        name: 'elsewhere',
        type: 'persistent',
        dataDirectory: '/elsewhere',
        run: { port, command: ['x'] },
      }
      await platform()
        .db.insertInto('deployments')
        .values({
          name: 'elsewhere',
          type: 'persistent',
          content: JSON.stringify({ ...definition, node: 'node-a' }),
          enabled: false,
        })
        .execute()
      await platform()
        .db.insertInto('instances')
        .values({
          uid: randomUUID(),
          deployment: 'elsewhere',
          name: 'abc123-elsewhere',
          pod_name: 'elsewhere-abc123',
          slot: 0,
        })
        .execute()
      const run = {
        podName: 'elsewhere-abc123',
        runId: 'r',
        state: 'RUNNING' as const,
        ip: '127.0.0.1',
        port,
        startedAt: 1,
        exit: undefined,
        // Of a process that has ended.
        process: { pid: 2 ** 30, startTime: '1' },
      }
      let now = 0
      let looks = 0
      const listening = createListeningSockets(async () => [run])
      const watch = watchPlayers({
        db: platform().db,
        runtime: { list: async () => [run] } as unknown as TestPlatform['runtime'],
        listening: async () => {
          looks += 1
          return listening()
        },
        onChange: () => undefined,
        now: () => now,
      })
      await until(() => looks >= 2)
      expect(watch.playersOf(run)).toBeUndefined()
      expect(watch.portWarning(run.podName)).toBeUndefined()
      now = 30_000
      expect(await until(() => watch.portWarning(run.podName))).toBe(
        `The instance is ready but does not listen on port ${port}: the program "node" (process ${outside.pid}) does. Compare run.port with the server’s own settings.`,
      )
      expect(watch.playersOf(run)).toBeUndefined()
      await watch.close()
    } finally {
      outside.kill('SIGKILL')
    }
  },
)
