import { memo } from 'react'
import type { ConsoleLine } from '../../sockets/lineBuffer'
import type { Span } from './ansi'
import { styleLine } from './ansi'

type LogRowProps = { line: ConsoleLine; number: number; query: string; isFound: boolean }

/** A line is text: what looks like markup in it stays what it is. */
export const LogRow = memo(function LogRow({ line, number, query, isFound }: LogRowProps) {
  const { text, spans, isPlain } = styleLine(line)
  return (
    <div className={`log-row ${line.type} ${isFound ? 'found' : ''}`} data-line={number} data-plain={isPlain}>
      {query === '' ? spans.map(drawn) : highlighted(text, spans, query)}
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

/** The same spans, cut where the query begins and ends. */
function highlighted(text: string, spans: readonly Span[], query: string) {
  const hits = hitsOf(text.toLowerCase(), query.toLowerCase())
  const isHit = (at: number) => hits.some((hit) => at >= hit && at < hit + query.length)
  const edges = hits.flatMap((hit) => [hit, hit + query.length])
  let start = 0
  return spans.flatMap(({ text: piece, className = '', style }, index) => {
    const from = start
    start += piece.length
    const cuts = [from, ...edges.filter((edge) => edge > from && edge < start), start]
    return cuts.slice(0, -1).map((cut, part) => {
      const cutText = text.slice(cut, cuts[part + 1])
      return isHit(cut) ? (
        <mark key={`${index}.${part}`} className={className}>
          {cutText}
        </mark>
      ) : (
        <span key={`${index}.${part}`} className={className} style={style}>
          {cutText}
        </span>
      )
    })
  })
}

function hitsOf(text: string, query: string) {
  const hits: number[] = []
  for (let at = text.indexOf(query); at !== -1; at = text.indexOf(query, at + query.length)) hits.push(at)
  return hits
}
