import { chmod, mkdir, readdir, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Peers } from '../../../contract/discovery'
import { errorCodeOf } from '../../errors'
import { removeTree } from '../../share/changes/removal'
import { createFile } from '../../share/directoryEntries'
import { openOwnDirectory, openSubdirectory, withDirectory, type OpenDirectory } from '../../share/jail'

const PEERS_FILE = 'peers.json'

/** The peers files of instances, each in a directory of its own. */
export interface PeersFiles {
  has(podName: string): boolean
  /** Whether there is no file. */
  isEmpty(): boolean
  /** Writes a file atomically, unless it already has this content. A reader gets the old or the new text. */
  write(podName: string, peers: Peers): Promise<void>
  /** Removes a file with its directory. */
  remove(podName: string): Promise<void>
  /** Finds the files that an earlier platform wrote: their instances may still run. @throws Node.js errors */
  find(): Promise<void>
}

/** The path of an instance's file. @param directory contains one directory for each file */
export function peersFileOf(directory: string, podName: string): string {
  return join(directory, podName, PEERS_FILE)
}

/** @param directory contains one directory for each file */
export function createPeersFiles(directory: string): PeersFiles {
  /** The current content of each file, by pod name. */
  const written = new Map<string, string>()

  return {
    has: (podName) => written.has(podName),
    isEmpty: () => written.size === 0,
    async write(podName, peers) {
      const text = `${JSON.stringify(peers)}\n`
      if (written.get(podName) === text) return
      await mkdir(directory, { recursive: true })
      await withDirectory(openOwnDirectory(directory), async (all) => {
        await mkdir(all.entryPath(podName)).catch((error: unknown) => {
          if (errorCodeOf(error) !== 'EEXIST') throw error
        })
        const opened = await openSubdirectory(all, podName)
        if (!opened) throw new Error(`There is no directory at ${directory}/${podName}`)
        await withDirectory(opened, async (own) => {
          // The umask of the platform must not keep the instance's own user from reading it.
          await Promise.all([chmod(all.procPath, 0o755), chmod(own.procPath, 0o755)])
          await replaceFile(own, text)
        })
      })
      written.set(podName, text)
    },
    async remove(podName) {
      written.delete(podName)
      await withDirectory(openOwnDirectory(directory), (all) => removeTree(all, podName)).catch((error: unknown) => {
        if (errorCodeOf(error) !== 'ENOENT') throw error
      })
    },
    async find() {
      const names = await readdir(directory).catch((error: unknown) => {
        // The first file creates it.
        if (errorCodeOf(error) !== 'ENOENT') throw error
        return []
      })
      for (const name of names) written.set(name, '')
    },
  }
}

async function replaceFile(directory: OpenDirectory, text: string): Promise<void> {
  const part = `.${PEERS_FILE}.part`
  await rm(directory.entryPath(part), { force: true })
  const file = await createFile(directory, part)
  try {
    await file.writeFile(text)
    await file.chmod(0o644)
  } finally {
    await file.close()
  }
  await rename(directory.entryPath(part), directory.entryPath(PEERS_FILE))
}
