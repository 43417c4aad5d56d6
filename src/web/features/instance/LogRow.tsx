import { memo } from 'react'
import type { ConsoleLine } from '../../sockets/lineBuffer'
import type { Span } from './ansi'
import { styleLine } from './ansi'
import { occurrencesIn } from './searchLines'

/** `current` is where the shown occurrence begins, in the line that has it. */
type LogRowProps = { line: ConsoleLine; number: number; query: string; current: number | undefined }

/** A line is text: what looks like markup in it stays what it is. */
export const LogRow = memo(function LogRow({ line, number, query, current }: LogRowProps) {
  const { text, spans, isPlain } = styleLine(line)
  return (
    <div
      className={`log-row ${line.type} ${current === undefined ? '' : 'found'}`}
      data-line={number}
      data-plain={isPlain}
    >
      {query === '' ? spans.map(drawn) : highlighted(text, spans, query, current)}
    </div>
  )
})

const drawn = ({ text, className, style }: Span, index: number) =>
  className || style ? (
    <span key={index} className={className} style={style}>
      {text}
    </span>
  ) : (
    text
  )

/** So many of a line are marked, around the one that is shown: there may be thousands, and each is an element. */
const MARKED = 100

function marked(places: number[], current: number | undefined) {
  if (places.length <= MARKED) return places
  const at = current === undefined ? 0 : Math.max(0, places.indexOf(current) - MARKED / 2)
  return places.slice(at, at + MARKED)
}

/** The same spans, cut where an occurrence begins and ends. */
function highlighted(text: string, spans: readonly Span[], query: string, current: number | undefined) {
  const places = marked(occurrencesIn(text, query), current)
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
          <mark key={start} className={place === current ? `${className} current` : className}>
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
