import type { ActionLog, LoggedAction } from '../../../contract/actionLog'

/** A row of the contents: the actions of one type, the calls of one endpoint, or a state. */
export type Kind = {
  name: string
  texts: string[]
  /** Matches of the search, with the text around them. */
  excerpts: string[]
}

/** Returns the contents of a log by kind: the most frequent kind first, the two states last. */
export function contentsOf({ actions, base, final }: ActionLog): Kind[] {
  const kinds = new Map<string, string[]>()
  for (const action of actions) {
    const name = nameOf(action)
    const texts = kinds.get(name) ?? []
    texts.push(JSON.stringify(action))
    kinds.set(name, texts)
  }
  const ofActions = [...kinds]
    .map(([name, texts]) => ({ name, texts, excerpts: [] }))
    .sort((a, b) => b.texts.length - a.texts.length || (a.name < b.name ? -1 : 1))
  return [
    ...ofActions,
    { name: 'State before the first action', texts: [JSON.stringify(base)], excerpts: [] },
    { name: 'State after the last action', texts: [JSON.stringify(final)], excerpts: [] },
  ]
}

/** Returns the kinds and texts that contain a query. Ignores case. The query is escaped like the JSON of the file. */
export function search(contents: Kind[], query: string): Kind[] {
  const wanted = JSON.stringify(query).slice(1, -1).toLowerCase()
  return contents.flatMap(({ name, texts }) => {
    const found = texts.filter((text) => text.toLowerCase().includes(wanted))
    return found.length > 0
      ? [{ name, texts: found, excerpts: found.slice(0, EXCERPTS).map((text) => around(text, wanted)) }]
      : []
  })
}

/** Maximum number of excerpts per kind. */
const EXCERPTS = 3
/** Number of characters that an excerpt shows before and after a match. */
const AROUND = 40

function around(text: string, wanted: string): string {
  const at = text.toLowerCase().indexOf(wanted)
  const [from, to] = [Math.max(0, at - AROUND), at + wanted.length + AROUND]
  return `${from > 0 ? '…' : ''}${text.slice(from, to)}${to < text.length ? '…' : ''}`
}

function nameOf({ type, meta }: LoggedAction): string {
  const { endpointName } = (meta as { arg?: { endpointName?: unknown } } | undefined)?.arg ?? {}
  return typeof endpointName === 'string' ? `Call ${endpointName}` : type
}
