export const DENSITIES = ['comfortable', 'compact'] as const
/** The height of the rows. */
export type Density = (typeof DENSITIES)[number]

/** Key of the browser's storage. */
export const DENSITY_KEY = 'files-density'

export const isDensity = (text: string | null): text is Density => DENSITIES.some((density) => density === text)
