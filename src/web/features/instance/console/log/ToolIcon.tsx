import { Glyph } from '../../../../ui/Glyph'

/** Icons that only the instance page uses, in the style of ui/Icon. */
const paths = {
  bottom: 'M12 4v12m-5-5 5 5 5-5M5 20.5h14',
  down: 'm6 9 6 6 6-6',
  kill: 'M13 3 5 13.5h6L10 21l8.5-11H12.5L13 3Z',
  pause: 'M8.5 5v14m7-14v14',
  play: 'M7.5 4.5v15L19 12 7.5 4.5Z',
  save: 'M12 4v11m-4.5-4.5L12 15l4.5-4.5M4.5 19.5h15',
  search: 'M10.5 17a6.5 6.5 0 1 0 0-13 6.5 6.5 0 0 0 0 13Zm4.8-1.7 5.2 5.2',
  stop: 'M6.5 6.5h11v11h-11z',
  up: 'm6 15 6-6 6 6',
  wrap: 'M4 6h16M4 12h13a3 3 0 0 1 0 6h-4m2.5-2.5L13 18l2.5 2.5M4 18h4',
} as const

export type ToolIconName = keyof typeof paths

export function ToolIcon({ name, size = 16 }: { name: ToolIconName; size?: number }) {
  return <Glyph path={paths[name]} size={size} />
}
