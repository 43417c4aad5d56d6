import type { LineBlock, LineBuffer } from '../../sockets/lineBuffer'
import { keptBlocks } from '../../sockets/lineBuffer'
import { styleLine } from './ansi'

/** Finds the lines that hold a text, upper or lower case. Remembers per block, so that new lines cost only themselves. */
export function createSearch(query: string) {
  const wanted = query.toLowerCase()
  const found = new WeakMap<LineBlock, number[]>()

  const foundIn = (block: LineBlock) => {
    const known = found.get(block)
    if (known) return known
    const made = block.flatMap((line, index) => (styleLine(line).text.toLowerCase().includes(wanted) ? [index] : []))
    found.set(block, made)
    return made
  }

  /** The numbers of the lines, in order. */
  return (buffer: LineBuffer): number[] => {
    if (wanted === '') return []
    const numbers: number[] = []
    for (const { block, number, from } of keptBlocks(buffer)) {
      for (const index of foundIn(block)) if (index >= from) numbers.push(number + index)
    }
    return numbers
  }
}
