/** Text of which parts are secret: shown masked, copied whole. */
type Piece = string | { secret: string }
export type Code = readonly Piece[]

export const MASK = '••••••••••••'

/** A template whose secrets stay marked. */
export function code(texts: TemplateStringsArray, ...parts: (Code | string | number)[]): Code {
  return texts.flatMap((text, index) => {
    const part = parts[index] ?? ''
    return [text, ...(typeof part === 'object' ? part : [String(part)])]
  })
}

export const secret = (text: string): Code => [{ secret: text }]

/** For what works character by character: it does not see where a piece ends. */
export const mapCode = (source: Code, change: (text: string) => string): Code =>
  source.map((piece) => (typeof piece === 'string' ? change(piece) : { secret: change(piece.secret) }))

export const textOf = (source: Code) =>
  source.map((piece) => (typeof piece === 'string' ? piece : piece.secret)).join('')

export const maskedTextOf = (source: Code) => source.map((piece) => (typeof piece === 'string' ? piece : MASK)).join('')
