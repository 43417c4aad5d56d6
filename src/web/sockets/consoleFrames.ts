import type { ConsoleLine } from './lineBuffer'

const JAR_NOT_FOUND = 'Jar file not found!'

export type Reading = {
  lines: ConsoleLine[]
  /** Of a power frame. */
  state?: string
  /** Number of the line that comes after the frame, where the server counts. */
  next?: number
  /** The last word was that there is no jar; with more after it, it is history. */
  isJarMissing?: boolean
}

const nothing: Reading = { lines: [] }

export const lineOf = (type: ConsoleLine['type'], content: string): ConsoleLine => Object.freeze({ type, content })
export const systemLine = (text: string) => lineOf('system', `[System] ${text}`)

/** What a frame of the server says (product §5, §7). Other servers than ours may send anything. */
export function readFrame(message: unknown): Reading {
  let frame: unknown
  try {
    frame = JSON.parse(message as string)
  } catch {
    return { lines: [lineOf('error', 'Error parsing message')] }
  }
  if (typeof frame !== 'object' || frame === null) return nothing
  const { type, content, seq } = frame as Record<string, unknown>
  if (typeof type !== 'string' || type === '' || typeof content !== 'string' || content === '') return nothing
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
