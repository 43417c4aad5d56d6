import inter from '@fontsource-variable/inter/files/inter-latin-wght-normal.woff2?url'

const MAX_DELAY_MS = 60_000

/** Loads the font of the console. Texts use a system font until it is loaded. Retries after a failure. */
export async function loadFont(delayMs = 2000): Promise<void> {
  try {
    document.fonts.add(await new FontFace('Inter Variable', `url(${inter})`, { weight: '100 900' }).load())
  } catch {
    setTimeout(() => void loadFont(Math.min(2 * delayMs, MAX_DELAY_MS)), delayMs)
  }
}
