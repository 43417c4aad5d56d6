/**
 * Returns the path that the console is served under, such as `/console`; empty at the root of its origin. The platform
 * writes it into the page (QUARTERDECK_PUBLIC_URL). Addresses of the router are without it, URLs of requests with it.
 * A replay without a browser has no page.
 */
export const basePath = () => globalThis.document?.documentElement.dataset.base ?? ''

/** Returns an address of the router for the path of a link's URL. */
export const routeOfPath = (pathname: string) => pathname.slice(basePath().length) || '/'
