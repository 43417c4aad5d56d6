import type { TextEncoding } from '../../../contract/file'

/** Decodes a text sent as bytes (product §7): as UTF-8 if valid, else as windows-1252. Keeps a byte order mark. */
export function decodeBytes(bytes: readonly number[]): { text: string; encoding: TextEncoding } {
  const content = Uint8Array.from(bytes)
  try {
    return { text: new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(content), encoding: 'utf-8' }
  } catch {
    return { text: new TextDecoder('windows-1252').decode(content), encoding: 'windows-1252' }
  }
}
