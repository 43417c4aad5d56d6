import { createApi, type Api } from './api/client'
import { readSignIn } from './configFile'
import { createTerminal, type Terminal } from './terminal/terminal'

/** What a command works with. */
export interface Session {
  terminal: Terminal
  api: Api
}

/** @throws CliError if nobody is signed in */
export async function openSession(isJson: boolean): Promise<Session> {
  const terminal = createTerminal(isJson)
  return { terminal, api: createApi(await readSignIn(), (text) => terminal.note(text)) }
}
