import type { TextEncoding } from '../../contract/file'

/** What a server sent as bytes (product §7): UTF-8 where it is, and else what every byte has a character in. A mark at the front stays. */
export function decodeBytes(bytes: readonly number[]): { text: string; encoding: TextEncoding } {
  const content = Uint8Array.from(bytes)
  try {
    return { text: new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(content), encoding: 'utf-8' }
  } catch {
    return { text: new TextDecoder('windows-1252').decode(content), encoding: 'windows-1252' }
  }
}
