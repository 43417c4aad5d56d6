import { readFile, rm, writeFile } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'
import { isAlive, startTimeOf } from '../../processLock'

/** Records which process a directory belongs to. */
export async function writePidFile(file: string, pid: number): Promise<void> {
  await writeFile(file, `${pid} ${startTimeOf(pid)}`)
}

/**
 * Ends the recorded process, which a killed platform left behind or which is still ending, and removes the file.
 * @param killAfterMs how long an orderly end may take before the process is killed
 */
export async function endRecordedProcess(file: string, killAfterMs: number): Promise<void> {
  const [text = '', startTime = ''] = (await readFile(file, 'utf8').catch(() => '')).split(' ')
  const pid = Number(text)
  // Without a start time (no /proc) the pid may belong to another process by now.
  const isRunning = () => pid > 0 && startTime !== '' && isAlive(pid, startTime)
  for (let waited = 0; isRunning(); waited += 50) {
    if (waited === 0) kill(pid, 'SIGTERM')
    if (waited >= killAfterMs) kill(pid, 'SIGKILL')
    await delay(50)
  }
  await rm(file, { force: true })
}

function kill(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal)
  } catch {
    // The process has ended in the meantime.
  }
}
