import { SHARED_ROOT } from '../../../contract/pageRules'
import { createApi } from '../../api/client'
import { CliError, EXIT } from '../../failure'
import type { Session } from '../../session'
import { bytesText } from '../../terminal/text'
import { download } from './download'
import type { Progress } from './progress'
import { upload } from './upload'

const REMOTE = 'remote:'

/** Copies files and directories between this machine and the shared area; exactly one of the paths is `remote:/…`. */
export async function copy({ terminal, api }: Session, from: string, to: string): Promise<void> {
  if (from.startsWith(REMOTE) === to.startsWith(REMOTE))
    throw new CliError(
      EXIT.usage,
      'One of the two paths must be on this machine, and the other on the server, such as remote:/lobby/plugins',
    )
  const progress: Progress = { files: 0, bytes: 0 }
  const progressText = () =>
    `${progress.files} ${progress.files === 1 ? 'file' : 'files'}, ${bytesText(progress.bytes)}`
  const timer = setInterval(() => terminal.progress(progressText()), 200)
  // Unfinished files are removed before the program ends.
  const interrupted = new AbortController()
  const interrupt = () => interrupted.abort(new CliError(EXIT.interrupted, ''))
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, interrupt)
  const note = (text: string) => terminal.note(text)
  const calls = createApi(api, note, interrupted.signal)
  try {
    if (to.startsWith(REMOTE)) await upload(calls, from, remotePath(to), { progress, note, signal: interrupted.signal })
    else await download(calls, remotePath(from), to, { progress, signal: interrupted.signal })
  } catch (error) {
    interrupted.signal.throwIfAborted()
    throw error
  } finally {
    clearInterval(timer)
    terminal.progress(undefined)
  }
  if (terminal.isJson) terminal.json({ from, to, ...progress })
  else terminal.note(`Copied ${progressText()}.`)
}

/** The API's path of `remote:/lobby/world`, which may also begin with /nfsshare, like paths of the API. */
function remotePath(text: string): string {
  const path = text.slice(REMOTE.length)
  if (!path.startsWith('/')) throw new CliError(EXIT.usage, `"${text}" must begin with ${REMOTE}/`)
  const isWhole = path === SHARED_ROOT || path.startsWith(`${SHARED_ROOT}/`)
  return (isWhole ? path : SHARED_ROOT + path).replaceAll(/\/+/g, '/').replace(/\/$/, '')
}
