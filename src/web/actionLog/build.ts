declare const __BUILD__: string | undefined

/** Identifies the build of the console. A console that runs from source has no number. */
export const build = typeof __BUILD__ === 'string' ? __BUILD__ : 'source'
