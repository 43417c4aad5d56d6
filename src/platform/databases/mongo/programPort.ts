import { readFile, rename, writeFile } from 'node:fs/promises'
import type { Logger } from 'pino'
import { freePort, isFreePort } from '../../postgres/freePort'

export interface ProgramPortParts {
  /** The name of the program in the log. */
  name: string
  /** The file that keeps the port over restarts. */
  file: string
  /** The first port to try at the first start. */
  firstPort: number
  /** Ports that the platform's other programs have or will use. */
  claimed: Set<number>
  log: Logger
}

/** The port of a program on 127.0.0.1. Kept in a file, and changed when another program uses it. */
export interface ProgramPort {
  /** Claims the kept port if it is free, otherwise another one, which is kept. @param from where to search for that */
  choose(from: number): Promise<number>
  /** The chosen port; before that the kept one, or the first. */
  current(): Promise<number>
  /** Releases the claim. */
  release(): void
}

export function createProgramPort({ name, file, firstPort, claimed, log }: ProgramPortParts): ProgramPort {
  let chosen: Promise<number> | undefined
  let claim: number | undefined

  async function find(from: number): Promise<number> {
    const kept = Number(await readFile(file, 'utf8').catch(() => ''))
    if (kept > 0 && (kept === claim || !claimed.has(kept)) && (await isFreePort(kept))) return claimPort(kept)
    let port = await freePort(from)
    while (claimed.has(port)) port = await freePort(port + 1)
    claimPort(port)
    await writeFile(`${file}.new`, String(port))
    await rename(`${file}.new`, file)
    if (kept > 0) log.warn({ port: kept, now: port }, `port ${kept} of ${name} is in use; using ${port} instead`)
    return port
  }

  function claimPort(port: number): number {
    release()
    claimed.add(port)
    return (claim = port)
  }

  function release(): void {
    if (claim !== undefined) claimed.delete(claim)
    claim = undefined
  }

  return {
    choose: (from) => (chosen = find(from)),
    async current() {
      // A port that could not be chosen is chosen at the next start, which reports the reason.
      const port = await chosen?.catch(() => undefined)
      return port ?? (Number(await readFile(file, 'utf8').catch(() => '')) || firstPort)
    },
    release,
  }
}
