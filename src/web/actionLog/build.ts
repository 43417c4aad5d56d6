declare const __BUILD__: string | undefined

/** Identifies the build of the console; `source` if the console was not built by webpack. */
export const build = typeof __BUILD__ === 'string' ? __BUILD__ : 'source'
