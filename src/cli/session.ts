import { createApi, type Api } from './api/client'
import { readSignIn } from './configFile'
import { createTerminal, type Terminal } from './terminal/terminal'

/** Dependencies of a command. */
export interface Session {
  terminal: Terminal
  api: Api
}

/** Opens the session of the stored key. @throws CliError if there is none */
export async function openSession(isJson: boolean): Promise<Session> {
  const terminal = createTerminal(isJson)
  return { terminal, api: createApi(await readSignIn(), (text) => terminal.note(text)) }
}
