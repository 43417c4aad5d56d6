import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { API_KEY_PREFIX } from '../contract/pageRules'
import { CliError, EXIT } from './failure'

/** The console's address and the key to use it with. */
export interface SignIn {
  /** Without a trailing slash: `https://example.com/panel`. */
  server: string
  key: string
}

export const configPath = (): string =>
  join(process.env.XDG_CONFIG_HOME || join(homedir(), '.config'), 'quarterdeck', 'config.json')

/** Reads the environment, which takes precedence, and the file. @throws CliError if a value is in neither */
export async function readSignIn(): Promise<SignIn> {
  const { QUARTERDECK_SERVER: server, QUARTERDECK_KEY: key } = process.env
  const stored = server && key ? undefined : await readConfig()
  // A key is sent only to the server that it was created for.
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
    // Invalid JSON is handled like any other invalid content.
  }
  throw new CliError(EXIT.notSignedIn, `${configPath()} is damaged. Sign in again: quarterdeck login`)
}

/** Writes the file so that other users can never read it, not even for a moment. */
export async function writeConfig(signIn: SignIn): Promise<void> {
  const path = configPath()
  await mkdir(dirname(path), { recursive: true, mode: 0o700 })
  const unfinished = `${path}.${process.pid}`
  await writeFile(unfinished, `${JSON.stringify(signIn, null, 2)}\n`, { mode: 0o600, flag: 'wx' })
  await rename(unfinished, path)
}

/** @returns whether there was a file */
export async function removeConfig(): Promise<boolean> {
  return rm(configPath()).then(
    () => true,
    (error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return false
      throw error
    },
  )
}

/** Normalizes a console's address. @throws CliError if it is not an address */
export function parseServer(address: string): string {
  const url = URL.canParse(address) ? new URL(address) : undefined
  if (!url || !/^https?:$/.test(url.protocol) || url.username || url.password || url.search || url.hash)
    throw new CliError(EXIT.usage, `"${address}" is not the address of a console such as https://example.com/panel`)
  return url.href.replace(/\/$/, '')
}

/** Checks the form of a key. @throws CliError, which does not contain the key */
export function parseKey(text: string): string {
  const key = text.trim()
  if (!key.startsWith(API_KEY_PREFIX) || !/^\w{43}$/.test(key))
    throw new CliError(EXIT.usage, `That is not an API key. A key begins with ${API_KEY_PREFIX} and has 43 characters.`)
  return key
}
