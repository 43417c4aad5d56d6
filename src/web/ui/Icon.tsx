import { Glyph } from './Glyph'

/** The icons were drawn for this product. */
const paths = {
  alert: 'M12 8.5v4.5m0 3.4v.1M10.3 4.2 2.9 17a2 2 0 0 0 1.7 3h14.8a2 2 0 0 0 1.7-3L13.7 4.2a2 2 0 0 0-3.4 0Z',
  check: 'm5 12.5 4.5 4.5L19 7.5',
  chevron: 'm9 6 6 6-6 6',
  close: 'm6 6 12 12M18 6 6 18',
  compass: 'M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18Zm3.6-12.6-2 5.2-5.2 2 2-5.2 5.2-2Z',
  contrast: 'M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18Zm0-18v18m3-17.4v16.8m3-14.1v11.4',
  copy: 'M9 9h10v11H9zM15 9V4H5v11h4',
  exit: 'M10 4H5v16h5m5-12 4 4-4 4m4-4H9',
  eye: 'M2.5 12S6 5.5 12 5.5 21.5 12 21.5 12 18 18.5 12 18.5 2.5 12 2.5 12Zm9.5 2.8a2.8 2.8 0 1 0 0-5.6 2.8 2.8 0 0 0 0 5.6Z',
  lock: 'M6 10.5h12v9.5H6zm2.5 0V7.5a3.5 3.5 0 0 1 7 0v3',
  menu: 'M4 7h16M4 12h16M4 17h16',
  moon: 'M20 14.5A8.5 8.5 0 0 1 9.5 4a8.5 8.5 0 1 0 10.5 10.5Z',
  players:
    'M9 11a3.5 3.5 0 1 0 0-7 3.5 3.5 0 0 0 0 7Zm-6.5 9c0-3.6 2.9-6 6.5-6s6.5 2.4 6.5 6M16 4.3a3.5 3.5 0 0 1 0 6.4m2.5 3.8c1.9 1 3 2.9 3 5.5',
  signal: 'M12 19.5v.1M8.5 16a5 5 0 0 1 7 0M5.5 12.5a9.3 9.3 0 0 1 13 0M2.5 9a13.5 13.5 0 0 1 19 0',
  sun: 'M12 16a4 4 0 1 0 0-8 4 4 0 0 0 0 8Zm0-13v2m0 14v2M3 12h2m14 0h2M5.6 5.6 7 7m10 10 1.4 1.4M5.6 18.4 7 17M17 7l1.4-1.4',
} as const

export type IconName = keyof typeof paths

export function Icon({ name, size = 18 }: { name: IconName; size?: number }) {
  return <Glyph path={paths[name]} size={size} />
}
