import { createReadStream } from 'node:fs'

/**
 * In bytes: 28,000 rows of TCP, 8,000 of UDP. An instance may open any number of sockets, and the kernel searches the
 * table of UDP from its start for each 4 KiB that are read: 300,000 rows take ten minutes.
 */
const MAX_BYTES = { tcp: 4 * 2 ** 20, udp: 2 ** 20 }

/** A table of /proc/net with a row for each socket (proc_net_tcp(5)). */
export type SocketTable = 'tcp' | 'tcp6' | 'udp' | 'udp6'

/**
 * Reads a table up to a limit, in pieces, so that the event loop is not blocked.
 * @param onRows called with one or more whole rows
 * @returns whether it was read to its end; `missing` without /proc, and for IPv6 where the machine has none
 */
export async function readSocketTable(
  table: SocketTable,
  onRows: (rows: string) => void,
): Promise<'whole' | 'cut' | 'missing'> {
  const limit = MAX_BYTES[table.startsWith('udp') ? 'udp' : 'tcp']
  let length = 0
  let text = ''
  try {
    for await (const piece of createReadStream(`/proc/net/${table}`, { encoding: 'latin1', end: limit - 1 })) {
      length += (piece as string).length
      text += piece
      const end = text.lastIndexOf('\n') + 1
      onRows(text.slice(0, end))
      text = text.slice(end)
    }
  } catch {
    return 'missing'
  }
  return length < limit ? 'whole' : 'cut'
}
