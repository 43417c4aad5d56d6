import { readFile, rename, writeFile } from 'node:fs/promises'
import type { Logger } from 'pino'
import { errorCodeOf } from '../../errors'
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
  /**
   * Claims the kept port if it is free, otherwise another one, which is kept from then on.
   * @param from the first port to try instead of the kept one
   */
  choose(from: number): Promise<number>
  /** The chosen port; before that the kept one, or the first. */
  current(): Promise<number>
  /** Releases the claim. */
  release(): void
}

export function createProgramPort({ name, file, firstPort, claimed, log }: ProgramPortParts): ProgramPort {
  let chosen: Promise<number> | undefined
  let claim: number | undefined

  /** @returns 0 if no port is kept. @throws Node.js errors: otherwise users' credentials would get another port */
  const readKept = async () =>
    Number(
      await readFile(file, 'utf8').catch((error: unknown) => {
        if (errorCodeOf(error) !== 'ENOENT') throw error
        return ''
      }),
    )

  async function keep(port: number): Promise<void> {
    await writeFile(`${file}.new`, String(port), { flush: true })
    await rename(`${file}.new`, file)
  }

  async function claimAny(from: number): Promise<number> {
    const kept = await readKept()
    const isUnclaimed = kept === claim || !claimed.has(kept)
    if (kept > 0 && isUnclaimed && (await isFreePort(kept))) {
      setClaim(kept)
      return kept
    }
    let port = await freePort(from)
    while (claimed.has(port)) port = await freePort(port + 1)
    setClaim(port)
    await keep(port)
    if (kept > 0) log.warn({ port: kept, now: port }, `port ${kept} of ${name} is in use; using ${port} instead`)
    return port
  }

  function setClaim(port: number): void {
    release()
    claimed.add(port)
    claim = port
  }

  function release(): void {
    if (claim !== undefined) claimed.delete(claim)
    claim = undefined
  }

  return {
    choose(from) {
      chosen = claimAny(from)
      return chosen
    },
    async current() {
      // A port that could not be chosen is chosen at the next start, which reports the reason.
      const port = await chosen?.catch(() => undefined)
      return port ?? ((await readKept().catch(() => 0)) || firstPort)
    },
    release,
  }
}
