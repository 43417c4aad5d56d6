import { Glyph } from './Glyph'

/** Icons of the pages after sign-in, in a module of their own so that the login page does not load them. */
const paths = {
  activity: 'M3 12h4l3-7.5 4 15 3-7.5h4',
  back: 'M19 12H5m6-6-6 6 6 6',
  bell: 'M6 16.5c1.2-1.2 1.5-2.8 1.5-6a4.5 4.5 0 0 1 9 0c0 3.2.3 4.8 1.5 6Zm4 0a2 2 0 0 0 4 0M12 6V4',
  changes: 'M7 4v12m-3-3 3 3 3-3M17 20V8m-3 3 3-3 3 3',
  code: 'm8.5 8-4.5 4 4.5 4m7-8 4.5 4-4.5 4m-2.5-10-2 12',
  devices:
    'M4 16V6a1 1 0 0 1 1-1h13a1 1 0 0 1 1 1v2M2.5 19H13m3-8h4.5a1 1 0 0 1 1 1v7a1 1 0 0 1-1 1H16a1 1 0 0 1-1-1v-7a1 1 0 0 1 1-1Z',
  database:
    'M12 9.5c4.1 0 7.5-1.3 7.5-3s-3.4-3-7.5-3-7.5 1.3-7.5 3 3.4 3 7.5 3Zm-7.5-3v11c0 1.7 3.4 3 7.5 3s7.5-1.3 7.5-3v-11M4.5 12c0 1.7 3.4 3 7.5 3s7.5-1.3 7.5-3',
  folder: 'M3 18.5V6a1 1 0 0 1 1-1h5l2 2.5h9a1 1 0 0 1 1 1v10a1 1 0 0 1-1 1H4a1 1 0 0 1-1-1Z',
  key: 'M8 19.5a4 4 0 1 0 0-8 4 4 0 0 0 0 8Zm2.9-6.9L19.5 4m-3 3 3 3',
  layers: 'm12 3.5 8.5 4.5-8.5 4.5L3.5 8ZM3.5 12l8.5 4.5 8.5-4.5M3.5 16l8.5 4.5 8.5-4.5',
  link: 'm10 14 4-4M11 7.5l2.2-2.2a4 4 0 0 1 5.6 5.6L16.5 13M13 16.5l-2.2 2.2a4 4 0 0 1-5.6-5.6L7.5 11',
  log: 'M6 3.5h8.5L19 8v12.5H6ZM14 3.5V8.5h5M9 12.5h7m-7 4h7',
  pencil: 'M4 20l.8-4L16.3 4.5a1.5 1.5 0 0 1 2.1 0l1.1 1.1a1.5 1.5 0 0 1 0 2.1L8 19.2 4 20Zm10.5-13.5 3 3',
  person: 'M12 11.5a4 4 0 1 0 0-8 4 4 0 0 0 0 8ZM4.5 20.5c0-3.9 3.4-6.5 7.5-6.5s7.5 2.6 7.5 6.5',
  plus: 'M12 5v14M5 12h14',
  replay: 'M4.5 12A7.5 7.5 0 1 0 7 6.4L4.5 9m0-5v5h5M10.5 9v6l5-3Z',
  restart: 'M19.5 12A7.5 7.5 0 1 1 17 6.4L19.5 9m0-5v5h-5',
  search: 'M10.5 17a6.5 6.5 0 1 0 0-13 6.5 6.5 0 0 0 0 13Zm4.8-1.7 5.2 5.2',
  shield: 'M12 3.5 19 6v5.5c0 4.5-3 7.5-7 9-4-1.5-7-4.5-7-9V6Zm-3 8.5 2.2 2.2 4-4.4',
  trash: 'M4.5 7h15M10 7V4.5h4V7m-7.5 0 1 12.5h9l1-12.5M10.5 11v5m3-5v5',
} as const

export function ActionIcon({ name }: { name: keyof typeof paths }) {
  return <Glyph path={paths[name]} size={18} />
}
