import { chmod, mkdir, readdir, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Peers } from '../../../contract/discovery'

const PEERS_FILE = 'peers.json'

/** The peers files of instances, each in a directory of its own. */
export interface PeersFiles {
  has(podName: string): boolean
  /** Whether there is no file. */
  isEmpty(): boolean
  /** Writes a file atomically, unless it has this content: a reader gets the old or the new text. */
  write(podName: string, peers: Peers): Promise<void>
  /** Removes a file with its directory. */
  remove(podName: string): Promise<void>
  /** Finds the files that an earlier platform wrote: their instances may still run. */
  find(): Promise<void>
}

/** The path of an instance's file. @param directory that of all files */
export function peersFileOf(directory: string, podName: string): string {
  return join(directory, podName, PEERS_FILE)
}

/** @param directory contains one directory for each file */
export function createPeersFiles(directory: string): PeersFiles {
  /** The current content of each file, by pod name. */
  const written = new Map<string, string>()
  const directoryOf = (podName: string) => join(directory, podName)

  return {
    has: (podName) => written.has(podName),
    isEmpty: () => written.size === 0,
    async write(podName, peers) {
      const text = `${JSON.stringify(peers)}\n`
      if (written.get(podName) === text) return
      const own = directoryOf(podName)
      await mkdir(own, { recursive: true })
      // The umask of the platform must not keep the instance's own user from reading it.
      await Promise.all([chmod(directory, 0o755), chmod(own, 0o755)])
      const part = join(own, `.${PEERS_FILE}.part`)
      await writeFile(part, text)
      await chmod(part, 0o644)
      await rename(part, peersFileOf(directory, podName))
      written.set(podName, text)
    },
    async remove(podName) {
      written.delete(podName)
      await rm(directoryOf(podName), { recursive: true, force: true })
    },
    async find() {
      for (const name of await readdir(directory)) written.set(name, '')
    },
  }
}
