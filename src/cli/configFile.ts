import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { API_KEY_PREFIX } from '../contract/pageRules'
import { CliError, EXIT } from './failure'

/** Where the console is and as whom it is used. */
export interface SignIn {
  /** Without a slash at its end: `https://example.com/panel`. */
  server: string
  key: string
}

export const configPath = (): string =>
  join(process.env.XDG_CONFIG_HOME || join(homedir(), '.config'), 'quarterdeck', 'config.json')

/** The environment comes before the file. @throws CliError if neither has both */
export async function readSignIn(): Promise<SignIn> {
  const { QUARTERDECK_SERVER: server, QUARTERDECK_KEY: key } = process.env
  const stored = server && key ? undefined : await readConfig()
  // A key is sent to the server only that it was made for.
  if (server && !key && stored && stored.server !== parseServer(server))
    throw new CliError(EXIT.notSignedIn, `There is no key for ${server}. Sign in: quarterdeck login --server ${server}`)
  const found = { server: server || stored?.server, key: key || stored?.key }
  if (!found.server || !found.key)
    throw new CliError(EXIT.notSignedIn, 'You are not signed in. Sign in: quarterdeck login')
  return { server: parseServer(found.server), key: parseKey(found.key) }
}

async function readConfig(): Promise<SignIn | undefined> {
  const text = await readFile(configPath(), 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined
    throw new CliError(EXIT.failed, `${configPath()} cannot be read: ${error.message}`)
  })
  if (text === undefined) return undefined
  try {
    const { server, key } = JSON.parse(text) as Partial<SignIn>
    if (typeof server === 'string' && typeof key === 'string') return { server: parseServer(server), key }
  } catch {
    // As any other content.
  }
  throw new CliError(EXIT.notSignedIn, `${configPath()} is damaged. Sign in again: quarterdeck login`)
}

/** Only the user may read it, at no time anybody else. */
export async function writeConfig(signIn: SignIn): Promise<void> {
  const path = configPath()
  await mkdir(dirname(path), { recursive: true, mode: 0o700 })
  const unfinished = `${path}.${process.pid}`
  await writeFile(unfinished, `${JSON.stringify(signIn, null, 2)}\n`, { mode: 0o600, flag: 'wx' })
  await rename(unfinished, path)
}

export async function removeConfig(): Promise<void> {
  await rm(configPath(), { force: true })
}

/** @throws CliError if it is no address of a console */
export function parseServer(address: string): string {
  const url = URL.canParse(address) ? new URL(address) : undefined
  if (!url || !/^https?:$/.test(url.protocol) || url.username || url.password || url.search || url.hash)
    throw new CliError(EXIT.usage, `"${address}" is not the address of a console such as https://example.com/panel`)
  return url.href.replace(/\/$/, '')
}

/** @throws CliError that does not tell the key */
export function parseKey(text: string): string {
  const key = text.trim()
  if (!key.startsWith(API_KEY_PREFIX) || !/^\w{43}$/.test(key))
    throw new CliError(EXIT.usage, `That is not an API key. A key begins with ${API_KEY_PREFIX} and has 43 characters.`)
  return key
}
