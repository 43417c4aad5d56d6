import { readFile, rm, writeFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { isAlive, originalOf, startTimeOf } from '../../processLock'

/** Records which process the directory of the file belongs to. */
export async function writePidFile(file: string, pid: number): Promise<void> {
  await writeFile(file, `${pid} ${startTimeOf(pid)} ${dirname(file)}`)
}

/**
 * Ends the recorded process, which a killed platform left behind or which is still ending, and removes the file. In a
 * copy of the data directory, the process belongs to the original one and goes on.
 * @param killAfterMs how long an orderly end may take before the process is killed
 */
export async function endRecordedProcess(file: string, killAfterMs: number): Promise<void> {
  const text = await readFile(file, 'utf8').catch(() => '')
  const [number = '', startTime = '', ...path] = text.split(' ')
  const pid = Number(number)
  if (await isCopied(file, path.join(' '), text)) return rm(file, { force: true })
  // Without a start time (no /proc) the pid may belong to another process by now.
  const isRunning = () => pid > 0 && startTime !== '' && isAlive(pid, startTime)
  for (let waited = 0; isRunning(); waited += 50) {
    if (waited === 0) kill(pid, 'SIGTERM')
    if (waited >= killAfterMs) kill(pid, 'SIGKILL')
    await delay(50)
  }
  await rm(file, { force: true })
}

/** @param storedIn empty if an older version wrote the file */
async function isCopied(file: string, storedIn: string, text: string): Promise<boolean> {
  const original = storedIn === '' ? undefined : originalOf(dirname(file), storedIn)
  if (original === undefined) return false
  return (await readFile(join(original, basename(file)), 'utf8').catch(() => '')) === text
}

function kill(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal)
  } catch {
    // The process has ended in the meantime.
  }
}
