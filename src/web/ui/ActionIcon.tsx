import { Glyph } from './Glyph'

/** As Icon, for the pages after signing in: the login page need not carry their drawings. */
const paths = {
  changes: 'M7 4v12m-3-3 3 3 3-3M17 20V8m-3 3 3-3 3 3',
  folder: 'M3 18.5V6a1 1 0 0 1 1-1h5l2 2.5h9a1 1 0 0 1 1 1v10a1 1 0 0 1-1 1H4a1 1 0 0 1-1-1Z',
  pencil: 'M4 20l.8-4L16.3 4.5a1.5 1.5 0 0 1 2.1 0l1.1 1.1a1.5 1.5 0 0 1 0 2.1L8 19.2 4 20Zm10.5-13.5 3 3',
  plus: 'M12 5v14M5 12h14',
  restart: 'M19.5 12A7.5 7.5 0 1 1 17 6.4L19.5 9m0-5v5h-5',
  trash: 'M4.5 7h15M10 7V4.5h4V7m-7.5 0 1 12.5h9l1-12.5M10.5 11v5m3-5v5',
} as const

export function ActionIcon({ name }: { name: keyof typeof paths }) {
  return <Glyph path={paths[name]} size={18} />
}
