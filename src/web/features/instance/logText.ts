import type { LineBuffer } from '../../sockets/lineBuffer'
import { allLines } from '../../sockets/lineBuffer'
import { plainText } from './ansi'

/** The lines as text for people and programs: no colours, no control sequences. */
export const textOf = (buffer: LineBuffer) =>
  allLines(buffer)
    .map((line) => `${plainText(line)}\n`)
    .join('')
