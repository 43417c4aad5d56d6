import { spawn } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { AccountResponse } from '../../contract/access'
import { createApi, dataOf } from '../api/client'
import { configPath, parseKey, parseServer, removeConfig, writeConfig } from '../configFile'
import { CliError, EXIT } from '../failure'
import { ask, isInteractive, readSecret } from '../terminal/prompts'
import { createTerminal } from '../terminal/terminal'

/** Signs in with a key that the user creates in the console, and stores the key. */
export async function login(options: {
  json: boolean
  server: string | undefined
  keyFile: string | undefined
}): Promise<void> {
  const terminal = createTerminal(options.json)
  const given = options.server ?? process.env.QUARTERDECK_SERVER
  if (!given && !isInteractive())
    throw new CliError(EXIT.usage, 'Name the console: quarterdeck login --server https://example.com')
  const server = parseServer(given || (await ask('Address of the console: ')))
  warnOfPlainHttp(server, (text) => terminal.note(text))
  const key = parseKey(await keyFor(server, options.keyFile, (text) => terminal.note(text)))
  const account = dataOf(
    await createApi({ server, key }, (text) => terminal.note(text)).calls.GET('/api/account'),
    AccountResponse,
  )
  await writeConfig({ server, key })
  const scopes = account.key?.scopes ?? []
  if (terminal.isJson)
    terminal.json({ server, username: account.username, scopes, deployments: account.key?.deployments ?? null })
  else {
    const only = account.key?.deployments ? ` on ${account.key.deployments.join(', ')}` : ''
    terminal.line(`Signed in to ${server} as ${account.username}; the key may: ${scopes.join(', ')}${only}.`)
    terminal.note(`It is kept in ${configPath()}, which only you can read.`)
  }
}

/** Deletes the stored key, which stays valid until it is deleted in the console. */
export async function logout(json: boolean): Promise<void> {
  const terminal = createTerminal(json)
  const wasSignedIn = await removeConfig()
  if (json) terminal.json({ signedIn: false })
  else if (!wasSignedIn) terminal.line('You were not signed in.')
  else
    terminal.line(
      'Signed out. The key stays valid: delete it on the API keys page of the console if you no longer need it.',
    )
}

async function keyFor(server: string, keyFile: string | undefined, note: (text: string) => void): Promise<string> {
  if (keyFile !== undefined && keyFile !== '-')
    return readFile(keyFile, 'utf8').catch((error: NodeJS.ErrnoException) => {
      throw new CliError(EXIT.failed, `${keyFile} cannot be read: ${error.message}`)
    })
  if (keyFile === undefined && process.env.QUARTERDECK_KEY) return process.env.QUARTERDECK_KEY
  if (process.stdin.isTTY) {
    const page = `${server}/keys`
    note(`Create a key on this page, and paste it here:\n  ${page}`)
    openPage(page)
  }
  return readSecret('Key (not shown): ')
}

function warnOfPlainHttp(server: string, note: (text: string) => void): void {
  const { protocol, hostname } = new URL(server)
  if (protocol === 'http:' && !/^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(hostname))
    note('Warning: without https, others on the network can read the key.')
}

/** Opens the page on a desktop. Without one the user opens the printed address. */
function openPage(address: string): void {
  const { DISPLAY, WAYLAND_DISPLAY } = process.env
  if (process.platform !== 'darwin' && !DISPLAY && !WAYLAND_DISPLAY) return
  const opener = spawn(process.platform === 'darwin' ? 'open' : 'xdg-open', [address], {
    detached: true,
    stdio: 'ignore',
  })
  opener.on('error', () => undefined)
  opener.unref()
}
