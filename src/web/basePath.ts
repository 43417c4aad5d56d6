/**
 * Returns the path of the console's public address (QUARTERDECK_PUBLIC_URL), such as `/console`; empty if it has none.
 * The platform writes it into the page. URLs of requests start with it; the router's locations do not. A replay in
 * Node.js has no document.
 */
export const basePath = () => globalThis.document?.documentElement.dataset.base ?? ''

/** Returns the router's location for the path of a URL. */
export const routeOfPath = (pathname: string) => pathname.slice(basePath().length) || '/'
