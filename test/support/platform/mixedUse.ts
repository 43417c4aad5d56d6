import { readFile, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { WebSocket } from 'ws'
import type { ConsoleFrame } from '../../../src/contract/sockets/consoleChannel'
import type { Random } from './fuzz/random'

/** A resource that is written repeatedly with increasing version numbers. */
interface Versioned {
  /** The highest acknowledged version: this one or a later one must be stored. */
  acknowledged: number
  /** The highest version sent: no later one may be stored. */
  sent: number
}

/** Whether a resource must exist: an unanswered create or delete leaves it open. */
type Presence = 'there' | 'gone' | 'open'

export type Call = (method: string, path: string, body?: unknown) => Promise<Record<string, unknown>>

export interface MixedUse {
  /** The number of acknowledged operations, by kind. */
  done: Record<string, number>
  /** The number of console lines read. */
  lines(): number
  /** What differs from the acknowledged state. */
  violations(): Promise<string[]>
  /** Stops the use and waits for calls in flight. */
  stop(): Promise<void>
}

const FILES = ['a.txt', 'b.txt', 'c.txt']
const textOf = (version: number) => `${version}:${String(version % 10).repeat(20_000 + (version % 7) * 1000)}`

/**
 * Simulates several users at once who save files and configurations, create databases and users, and read a console.
 * Remembers what the platform has acknowledged. Calls may fail when a part of the platform is killed; they leave the
 * result open.
 */
export function startMixedUse({
  url,
  dataDir,
  token,
  call,
  codeOf,
  random,
  deployments,
  watched,
}: {
  url: string
  dataDir: string
  token: string
  call: Call
  /** The current code of an authenticator app. */
  codeOf: (secret: string) => Promise<string>
  random: Random
  /** The deployments whose configurations are saved. */
  deployments: { name: string; content: (version: number) => string }[]
  /** The instance whose console is read: its program prints `line 1`, `line 2` … in each run. */
  watched: { name: string; podName: string }
}): MixedUse {
  const done: Record<string, number> = {}
  const versions = new Map<string, Versioned>()
  const databases = new Map<string, Presence>()
  const users = new Map<string, Presence>()
  const faults: string[] = []
  let isOver = false

  /** Repeats one kind of use until the end. */
  async function worker(kind: string, step: () => Promise<void>, pauseMs: number): Promise<void> {
    while (!isOver) {
      try {
        await step()
        done[kind] = (done[kind] ?? 0) + 1
      } catch {
        await delay(100)
      }
      await delay(pauseMs)
    }
  }

  async function save(key: string, send: (version: number) => Promise<unknown>): Promise<void> {
    const entry = versions.get(key) ?? { acknowledged: 0, sent: 0 }
    versions.set(key, entry)
    const version = ++entry.sent
    await send(version)
    entry.acknowledged = version
  }

  const saveFile = (name: string) =>
    save(`file ${name}`, (version) =>
      call('PATCH', 'sftp/file/content', { path: `/nfsshare/${name}`, content: textOf(version) }),
    )
  const saveConfiguration = ({ name, content }: (typeof deployments)[number]) =>
    save(`configuration ${name}`, (version) => call('PATCH', `deployments/${name}`, { content: content(version) }))

  async function changeDatabase(): Promise<void> {
    const existing = [...databases].filter(([, presence]) => presence === 'there').map(([name]) => name)
    if (existing.length > 4) {
      const name = random.pick(existing)
      databases.set(name, 'open')
      await call('DELETE', `database/sql/${name}`)
      databases.set(name, 'gone')
    } else {
      const name = `plots_${databases.size}`
      databases.set(name, 'open')
      await call('POST', 'database/sql', { name })
      databases.set(name, 'there')
    }
  }

  async function addUser(): Promise<void> {
    const username = `user-${users.size}`
    const { code: inviteCode } = await call('POST', 'invite-codes', { message: username })
    const { token: inviteToken } = await call('POST', 'auth/verify-invite', { inviteCode })
    const { secret } = await call('POST', 'auth/register', { username, password: 'correct horse', inviteToken })
    users.set(username, 'open')
    await call('POST', 'auth/verify-registration', { username, token: await codeOf(String(secret)), inviteToken })
    users.set(username, 'there')
  }

  let lastNumber = 0
  let lastCount = 0
  let lineCount = 0

  /**
   * Frame numbers increase by one across restarts; the program's own numbers increase by one, or restart with a new
   * run.
   */
  function read(frame: ConsoleFrame): void {
    if (frame.type === 'power') return
    if (/\d+ lines? skipped/.test(frame.content)) faults.push(`the console says: ${frame.content}`)
    if (frame.seq === undefined) return
    for (const [at, line] of frame.content.split('\n').entries()) {
      const number = frame.seq + at
      if (lastNumber > 0 && number !== lastNumber + 1) faults.push(`console line ${number} follows ${lastNumber}`)
      lastNumber = number
      lineCount += 1
      const count = Number(/^line (\d+)$/.exec(line)?.[1] ?? 0)
      if (count === 0) continue
      if (count !== 1 && count !== lastCount + 1)
        faults.push(`the program's line ${count} follows its line ${lastCount} (console line ${number})`)
      lastCount = count
    }
  }

  async function readConsole(): Promise<void> {
    const since = lastNumber > 0 ? `?since=${lastNumber + 1}` : ''
    const socket = new WebSocket(`${url.replace('http', 'ws')}/api/logs/${watched.name}/${watched.podName}${since}`, {
      headers: { cookie: `token=${token}`, origin: url },
      handshakeTimeout: 5000,
    })
    socket.on('message', (data) => read(JSON.parse((data as Buffer).toString()) as ConsoleFrame))
    await new Promise<void>((resolve) => {
      socket.on('error', () => resolve()).on('close', () => resolve())
      // Reconnects regularly, even if nothing has happened.
      setTimeout(() => socket.terminate(), 4000)
    })
  }

  const work = [
    ...FILES.map((name) => worker('files saved', () => saveFile(name), 30)),
    worker('configurations saved', () => saveConfiguration(random.pick(deployments)), 200),
    worker('databases made or deleted', changeDatabase, 400),
    worker('users made', addUser, 3000),
    worker('console connections', readConsole, 50),
  ]

  return {
    done,
    lines: () => lineCount,
    async violations() {
      const found = faults.splice(0)
      const judge = (key: string, version: number, before: Versioned) => {
        const { sent } = versions.get(key)!
        if (!(version >= before.acknowledged && version <= sent))
          found.push(`${key} is at ${version}, acknowledged was ${before.acknowledged}, sent ${sent}`)
      }
      for (const name of FILES) {
        const before = { ...(versions.get(`file ${name}`) ?? { acknowledged: 0, sent: 0 }) }
        const text = await readFile(join(dataDir, 'nfsshare', name), 'utf8')
        const version = Number(/^\d+/.exec(text)?.[0] ?? -1)
        if (version > 0 && text !== textOf(version))
          found.push(`${name} is not whole: ${text.length} characters that begin with "${text.slice(0, 20)}"`)
        else judge(`file ${name}`, Math.max(version, 0), before)
      }
      for (const { name } of deployments) {
        const before = { ...(versions.get(`configuration ${name}`) ?? { acknowledged: 0, sent: 0 }) }
        const { content } = await call('GET', `deployments/${name}`)
        if (before.sent > 0)
          judge(`configuration ${name}`, Number(/version (\d+)/.exec(String(content))?.[1] ?? 0), before)
      }
      const compare = (kind: string, expected: Map<string, Presence>, names: string[], prefix: string) => {
        for (const [name, presence] of expected) {
          if (presence === 'there' && !names.includes(name)) found.push(`the ${kind} ${name} is gone`)
          if (presence === 'gone' && names.includes(name)) found.push(`the ${kind} ${name} is back`)
        }
        for (const name of names)
          if (name.startsWith(prefix) && !expected.has(name)) found.push(`the ${kind} ${name} was never asked for`)
      }
      // A resource that changes during the check is judged the next time.
      const [databasesBefore, usersBefore] = [new Map(databases), new Map(users)]
      const listed = ((await call('GET', 'database/sql')).databases as { name: string }[]).map(({ name }) => name)
      const known = ((await call('GET', 'users')).users as { username: string }[]).map(({ username }) => username)
      for (const [before, now] of [
        [databasesBefore, databases],
        [usersBefore, users],
      ] as const) {
        for (const [name, presence] of now) if (before.get(name) !== presence) before.set(name, 'open')
      }
      compare('database', databasesBefore, listed, 'plots_')
      compare('user', usersBefore, known, 'user-')
      return found
    },
    async stop() {
      isOver = true
      await Promise.all(work)
      const left = (await readdir(join(dataDir, 'nfsshare'), { recursive: true })).filter((name) =>
        name.endsWith('.part'),
      )
      if (left.length > 0) faults.push(`unfinished files are left: ${left.join()}`)
    },
  }
}
