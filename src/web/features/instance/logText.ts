import type { LineBuffer } from '../../sockets/lineBuffer'
import { allLines } from '../../sockets/lineBuffer'
import { styleLine } from './ansi'

/** The lines as text for people and programs: no colours, no control sequences. */
export const textOf = (buffer: LineBuffer) => allLines(buffer).map((line) => `${styleLine(line).text}\n`).join('')

export function saveAs(name: string, text: string, type = 'text/plain') {
  const url = URL.createObjectURL(new Blob([text], { type: `${type};charset=utf-8` }))
  const link = document.createElement('a')
  link.href = url
  link.download = name
  link.click()
  URL.revokeObjectURL(url)
}
