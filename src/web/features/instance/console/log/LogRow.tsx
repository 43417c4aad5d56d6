import { memo } from 'react'
import type { ConsoleLine } from '../../../../sockets/lineBuffer'
import { COMMAND_MARK } from '../../../../sockets/lineBuffer'
import type { Span } from './ansi'
import { styleLine } from './ansi'
import { matchesIn } from './searchLines'
import styles from './log.module.scss'

/** `current` is the offset of the current match if it is in this line. */
type LogRowProps = { line: ConsoleLine; number: number; query: string; current: number | undefined }

/** Renders a line as text, so that markup in it has no effect. */
export const LogRow = memo(function LogRow({ line, number, query, current }: LogRowProps) {
  const { text, spans: styled, isPlain } = styleLine(line)
  const spans = line.type === 'command' ? withMark(styled) : styled
  return (
    <div
      className={`${styles.row} ${styles[line.type] ?? ''} ${current === undefined ? '' : styles.found}`}
      data-line={number}
      data-plain={isPlain}
    >
      {query === '' ? spans.map(renderSpan) : highlighted(text, spans, query, current)}
    </div>
  )
})

/** A command has no colours of its own, so its first span begins with the mark. */
const withMark = ([first, ...rest]: readonly Span[]): Span[] => [
  { text: COMMAND_MARK, className: styles.chevron ?? '' },
  ...(first ? [{ ...first, text: first.text.slice(COMMAND_MARK.length) }] : []),
  ...rest,
]

const renderSpan = ({ text, className, style }: Span, index: number) =>
  className || style ? (
    <span key={index} className={className} style={style}>
      {text}
    </span>
  ) : (
    text
  )

/** Limit of highlighted matches in a line: each is an element, and a line may hold thousands. */
const MAX_MARKED = 100

function marked(places: number[], current: number | undefined) {
  if (places.length <= MAX_MARKED) return places
  const at = current === undefined ? 0 : Math.max(0, places.indexOf(current) - MAX_MARKED / 2)
  return places.slice(at, at + MAX_MARKED)
}

/** Splits the spans where a match begins and ends. */
function highlighted(text: string, spans: readonly Span[], query: string, current: number | undefined) {
  const places = marked(matchesIn(text, query), current)
  let start = 0
  let next = 0
  return spans.flatMap(({ text: piece, className = '', style }) => {
    const end = start + piece.length
    const parts = []
    while (start < end) {
      while ((places[next] ?? Infinity) + query.length <= start) next++
      const place = places[next] ?? Infinity
      const isMarked = place <= start
      const until = Math.min(end, isMarked ? place + query.length : place)
      const part = text.slice(start, until)
      parts.push(
        isMarked ? (
          <mark key={start} className={place === current ? `${className} ${styles.current}` : className}>
            {part}
          </mark>
        ) : (
          <span key={start} className={className} style={style}>
            {part}
          </span>
        ),
      )
      start = until
    }
    return parts
  })
}
