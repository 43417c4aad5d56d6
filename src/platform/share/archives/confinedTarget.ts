import {
  chmodSync,
  closeSync,
  constants,
  fstatSync,
  mkdirSync,
  openSync,
  statSync,
  truncateSync,
  utimesSync,
} from 'node:fs'
import { O_PATH } from '../followLinks'

/** A file or directory in a mounted file system of Emscripten. */
interface Node {
  name: string
  mode: number
  /** The root of the mount is its own parent. */
  parent: Node
}

interface Stream {
  node: Node
  flags: number
  /** The descriptor of the open file. */
  nfd: number
  shared: { refcount: number }
}

/** The part of Emscripten's `NODEFS` that is used or replaced here (7z-wasm 1.2, library_nodefs.js). */
export interface NodeFs {
  realPath(node: Node): string
  createNode(parent: Node, name: string, mode: number, device: number): Node
  flagsForNode(flags: number): number
  tryFSOperation<Result>(work: () => Result): Result
  setattr(path: string, node: Node, attributes: object, ...calls: unknown[]): void
  node_ops: {
    mknod(parent: Node, name: string, mode: number): Node
    setattr(node: Node, attributes: { mode?: number | null; dontFollow?: boolean }): void
  }
  stream_ops: { open(stream: Stream): void }
}

/** Directories that are kept open. */
const MAX_OPEN = 64

/**
 * Keeps a mounted file system within an open directory. It would use paths, and another process of the same user, such
 * as an instance of a platform without root, may replace a directory by a link between two uses. Every step is
 * relative to an open directory and follows no link.
 * @param fd of the directory, which is mounted
 */
export function confineTo(fd: number, nodeFs: NodeFs): void {
  const open = new Map<Node, number>()

  function descriptorOf(node: Node): number {
    if (node.parent === node) return fd
    const known = open.get(node)
    if (known !== undefined) return known
    const path = `/proc/self/fd/${descriptorOf(node.parent)}/${node.name}`
    const opened = openSync(path, O_PATH | constants.O_DIRECTORY | constants.O_NOFOLLOW)
    open.set(node, opened)
    return opened
  }

  /** Ends with `/.`, because the path of a descriptor is itself a link. */
  function directoryPath(node: Node): string {
    if (open.size > MAX_OPEN) {
      for (const descriptor of open.values()) closeSync(descriptor)
      open.clear()
    }
    return `/proc/self/fd/${nodeFs.tryFSOperation(() => descriptorOf(node))}/.`
  }

  const isDirectory = (mode: number) => (mode & constants.S_IFMT) === constants.S_IFDIR
  nodeFs.realPath = (node) =>
    isDirectory(node.mode) ? directoryPath(node) : `${directoryPath(node.parent)}/${node.name}`

  nodeFs.node_ops.mknod = (parent, name, mode) => {
    const path = `${directoryPath(parent)}/${name}`
    nodeFs.tryFSOperation(() => {
      if (isDirectory(mode)) mkdirSync(path, mode & 0o777)
      else closeSync(openSync(path, constants.O_CREAT | constants.O_EXCL | constants.O_WRONLY, mode & 0o777))
    })
    return nodeFs.createNode(parent, name, mode, 0)
  }

  nodeFs.stream_ops.open = (stream) => {
    const path = nodeFs.realPath(stream.node)
    nodeFs.tryFSOperation(() => {
      stream.shared.refcount = 1
      stream.nfd = openSync(path, nodeFs.flagsForNode(stream.flags) | constants.O_NOFOLLOW)
    })
  }

  nodeFs.node_ops.setattr = (node, attributes) => {
    const path = nodeFs.realPath(node)
    nodeFs.tryFSOperation(() => {
      const file = openSync(path, O_PATH | constants.O_NOFOLLOW)
      try {
        if (fstatSync(file).isSymbolicLink()) throw Object.assign(new Error('A link'), { code: 'ELOOP' })
        const calls = [chmodSync, utimesSync, truncateSync, statSync]
        nodeFs.setattr(`/proc/self/fd/${file}`, node, attributes, ...calls)
      } finally {
        closeSync(file)
      }
    })
  }
}
