import { spawnSync } from 'node:child_process'
import { closeSync, constants, openSync, rmSync } from 'node:fs'
import { Socket } from 'node:net'
import { errorCodeOf } from '../../errors'

const { O_NONBLOCK, O_RDONLY, O_RDWR, O_WRONLY } = constants

/** The platform's ends of an instance's standard input, output and error. The caller that opens them destroys them. */
export interface InstancePipes {
  /** Undefined if no process reads the instance's standard input any more. */
  input: Socket | undefined
  /** Ends when neither the program nor its descendants can write to it any more. */
  output: Socket
  errors: Socket
}

/**
 * Paths of a run's FIFOs (fifo(7)) for standard input, output and error. Anonymous pipes would end with the host; the
 * next host reopens FIFOs, reads the output and can send the stop command.
 * @param base absolute path that the names begin with.
 */
export function pipeFilesOf(base: string): [input: string, output: string, errors: string] {
  return [`${base}.in`, `${base}.out`, `${base}.err`]
}

/**
 * Creates the FIFOs of a run and opens both ends.
 * @returns the platform's ends, and the program's descriptors. Those are open for reading and writing, so that its
 * input does not end and its output does not break without a host. Close them after the start.
 * @throws Node.js errors of the file system; an Error if mkfifo(1) fails
 */
export function makePipes(base: string): {
  pipes: InstancePipes
  stdio: [number, number, number]
  closeStdio: () => void
} {
  const files = pipeFilesOf(base)
  removePipes(base)
  const { status, error, stderr } = spawnSync('mkfifo', ['-m', '600', ...files], { encoding: 'utf8' })
  if (error) throw error
  if (status !== 0) throw new Error(`mkfifo ended with ${status}: ${stderr.trim()}`)
  const opened: number[] = []
  const closeStdio = () => opened.splice(0).forEach((fd) => closeSync(fd))
  const openForProgram = (file: string) => {
    const fd = openSync(file, O_RDWR)
    opened.push(fd)
    return fd
  }
  try {
    const stdio: [number, number, number] = [
      openForProgram(files[0]),
      openForProgram(files[1]),
      openForProgram(files[2]),
    ]
    return { pipes: openPipes(base), stdio, closeStdio }
  } catch (error) {
    closeStdio()
    removePipes(base)
    throw error
  }
}

/**
 * Opens the platform's ends of existing FIFOs.
 * @throws Node.js errors of the file system: ENOENT if they do not exist
 */
export function openPipes(base: string): InstancePipes {
  const [inputFile, outputFile, errorsFile] = pipeFilesOf(base)
  const opened: Socket[] = []
  const read = (file: string) => {
    const socket = readFrom(file)
    opened.push(socket)
    return socket
  }
  try {
    return { output: read(outputFile), errors: read(errorsFile), input: writeTo(inputFile) }
  } catch (error) {
    for (const socket of opened) socket.destroy()
    throw error
  }
}

function readFrom(file: string): Socket {
  return ofDescriptor(openSync(file, O_RDONLY | O_NONBLOCK), { readable: true, writable: false })
}

function writeTo(file: string): Socket | undefined {
  try {
    return ofDescriptor(openSync(file, O_WRONLY | O_NONBLOCK), { readable: false, writable: true })
  } catch (error) {
    // ENXIO (open(2)): no process has it open for reading.
    if (errorCodeOf(error) === 'ENXIO') return undefined
    throw error
  }
}

function ofDescriptor(fd: number, direction: { readable: boolean; writable: boolean }): Socket {
  const socket = new Socket({ fd, ...direction })
  // An instance may end at any moment; its run reports that.
  socket.on('error', () => undefined)
  return socket
}

/** Removes the FIFOs of a run. Processes that have them open can still use them. */
export function removePipes(base: string): void {
  for (const file of pipeFilesOf(base)) rmSync(file, { force: true })
}
