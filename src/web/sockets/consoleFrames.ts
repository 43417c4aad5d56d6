import type { ConsoleLine } from './lineBuffer'

const JAR_NOT_FOUND = 'Jar file not found!'

export type ParsedFrame = {
  lines: ConsoleLine[]
  /** Set by a power frame. */
  state?: string
  /** Number of the line after this frame, if the server numbers lines. */
  next?: number
  /** Whether the last line of the frame is "Jar file not found!". If more lines follow, that line is old. */
  isJarMissing?: boolean
}

const emptyFrame: ParsedFrame = { lines: [] }

export const lineOf = (type: ConsoleLine['type'], content: string): ConsoleLine => Object.freeze({ type, content })
export const systemLine = (text: string) => lineOf('system', `[System] ${text}`)

/** Parses a frame of the server (product §5, §7). Other servers may send anything, so nothing is assumed about it. */
export function parseFrame(message: unknown): ParsedFrame {
  let frame: unknown
  try {
    frame = JSON.parse(message as string)
  } catch {
    return { lines: [lineOf('error', 'Error parsing message')] }
  }
  if (typeof frame !== 'object' || frame === null) return emptyFrame
  const { type, content, seq } = frame as Record<string, unknown>
  if (typeof type !== 'string' || type === '' || typeof content !== 'string' || content === '') return emptyFrame
  if (type === 'power') return { lines: [systemLine(`Instance state changed to: ${content}`)], state: content }

  const texts = content.split(/\r?\n/)
  const kept = texts.filter((text) => text.trim() !== '')
  const lines = kept.map((text) => lineOf(type === 'error' || type === 'system' ? type : 'message', text))
  return {
    lines,
    next: typeof seq === 'number' && Number.isSafeInteger(seq) ? seq + texts.length : undefined,
    isJarMissing: kept.at(-1) === JAR_NOT_FOUND,
  }
}
