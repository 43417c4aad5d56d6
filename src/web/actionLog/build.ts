declare const __BUILD__: string | undefined

/** Which console this is; from source it has no number. */
export const build = typeof __BUILD__ === 'string' ? __BUILD__ : 'source'
