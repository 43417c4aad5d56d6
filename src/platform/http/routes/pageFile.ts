import { createHash } from 'node:crypto'
import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { brotliCompress, gzip } from 'node:zlib'
import { errorCodeOf } from '../../errors'
import { etagOf } from '../etag'

/**
 * The style sheet that every chart inserts for its legend, although none is shown (modules/legend/Helpers.js of
 * apexcharts).
 * `e2e/controls.test.ts` fails if a new version changes it.
 */
const LEGEND_STYLES = "'sha256-aSysLrDECVdJ6L+jLf8CC5QKLmwRuk/OZiZk9mYky8A='"

/** Of inline scripts and style sheets, only those of the page's file are allowed, by their hashes. */
const contentSecurityPolicy = (inlined: { scripts: string[]; styles: string[] }) =>
  [
    "default-src 'self'",
    ["script-src 'self'", ...inlined.scripts].join(' '),
    ["style-src 'self'", ...inlined.styles].join(' '),
    "img-src 'self' data: blob:",
    "connect-src 'self'",
    "worker-src 'self'",
    "object-src 'none'",
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
  ].join('; ')

/** The policy of all responses other than pages of the console. */
export const NOTHING_INLINE = contentSecurityPolicy({ scripts: [], styles: [] })

/** A page of the console, ready to be sent. */
export interface PageFile {
  html: string
  /** The compressed page, by the name of the content encoding. */
  encoded: { br: Buffer; gzip: Buffer }
  /** Strong entity tag with its quotes (RFC 9110 §8.8.3). */
  etag: string
  contentSecurityPolicy: string
  /** Value of the `Link` header: the scripts and styles that the page loads first (RFC 8288 §3). */
  link: string
}

/**
 * Returns a function that reads a page's file, which is kept until a new build replaces it.
 * @param directory the build's directory
 * @param basePath written into the URLs of the page's files and into `data-base`, where the console reads it
 * @returns takes a file name; resolves with undefined if the build has no such file
 */
export function createPageFiles(directory: string, basePath: string): (name: string) => Promise<PageFile | undefined> {
  const kept = new Map<string, { version: string; page: Promise<PageFile> }>()
  return async (name) => {
    const file = join(directory, name)
    const stats = await stat(file).catch((error: unknown) => {
      if (errorCodeOf(error) === 'ENOENT') return undefined
      throw error
    })
    if (!stats) return undefined
    const version = `${stats.mtimeMs} ${stats.size} ${stats.ino}`
    const known = kept.get(name)
    if (known?.version === version) return known.page
    const page = readFile(file, 'utf8').then((html) => preparePage(withBasePath(html, basePath)))
    kept.set(name, { version, page })
    page.catch(() => kept.delete(name))
    return page
  }
}

function withBasePath(html: string, basePath: string): string {
  if (basePath === '') return html
  return html
    .replaceAll(/(\s(?:src|href)="|url\()\//g, `$1${basePath}/`)
    .replace('<html ', `<html data-base="${basePath}" `)
}

async function preparePage(html: string): Promise<PageFile> {
  const [br, gzipped] = await Promise.all([promisify(brotliCompress)(html), promisify(gzip)(html, { level: 9 })])
  const hashOf = (text: string) => createHash('sha256').update(text).digest('base64')
  // Content Security Policy Level 3 §8.3: the hash is of all characters between the tags.
  const inlined = (tag: string) =>
    html
      .split(`<${tag}>`)
      .slice(1)
      .map((rest) => `'sha256-${hashOf(rest.slice(0, rest.indexOf(`</${tag}>`)))}'`)
  return {
    html,
    encoded: { br, gzip: gzipped },
    etag: etagOf(html),
    contentSecurityPolicy: contentSecurityPolicy({
      scripts: inlined('script'),
      styles: [...inlined('style'), LEGEND_STYLES],
    }),
    link: linkOf(html),
  }
}

/**
 * The page names the same files, but a browser has these headers before it has received and parsed the page. They are
 * not sent as 103 Early Hints: browsers take that status over HTTP/2 only, and common proxies (nginx 1.22) forward it
 * as the whole response. Proxies and CDNs that send it themselves take it from this header.
 */
function linkOf(html: string): string {
  const preload = (url: string, as: string) => `<${url}>; rel=preload; as=${as}`
  const scripts = html.matchAll(/<script defer(?:="defer")? src="([^"]+)"/g)
  const chunks = html.matchAll(/<link rel="preload" as="(\w+)" href="([^"]+)"/g)
  return [
    ...[...scripts].map(([, url = '']) => preload(url, 'script')),
    ...[...chunks].map(([, as = '', url = '']) => preload(url, as)),
  ].join(', ')
}
