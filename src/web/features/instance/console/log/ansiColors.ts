type Channels = readonly [red: number, green: number, blue: number]
/** An index of the 16-colour palette, or an RGB colour. */
export type Color = number | Channels
export type Colors = { color?: string; backgroundColor?: string }

export const colorOf = (...channels: [number, number, number]): Channels =>
  channels.map((channel) => Math.min(255, channel || 0)) as [number, number, number]

const LEVELS = [0, 95, 135, 175, 215, 255]

/** Maps an index of the 256 colours: the palette, a 6×6×6 cube and 24 greys. */
export function indexed(index: number): Color | undefined {
  if (index < 16) return index
  if (index > 255) return undefined
  if (index >= 232) return colorOf(8 + (index - 232) * 10, 8 + (index - 232) * 10, 8 + (index - 232) * 10)
  const [red, green, blue] = [Math.floor((index - 16) / 36), Math.floor((index - 16) / 6) % 6, (index - 16) % 6]
  return colorOf(LEVELS[red] ?? 0, LEVELS[green] ?? 0, LEVELS[blue] ?? 0)
}

/** Programs may choose any colours, even black on black. The result has a contrast of at least 4.5:1. */
export function legibleColors(
  text: Color | undefined,
  ground: Color | undefined,
  isInverse: boolean | undefined,
): Colors | undefined {
  if (!isInverse) {
    if (ground !== undefined) return onGround(text, ground)
    return text === undefined ? undefined : { color: isNamed(text) ? named(text) : css(lightened(text, ON_CONSOLE)) }
  }
  if (text === undefined)
    return { color: ground === undefined ? CONSOLE : onText(ground), backgroundColor: 'var(--log-text)' }
  if (ground !== undefined) return onGround(ground, text)
  return isNamed(text)
    ? { color: CONSOLE, backgroundColor: named(text) }
    : { color: blackOrWhite(text), backgroundColor: css(text) }
}

function onGround(text: Color | undefined, ground: Color): Colors {
  if (isNamed(ground)) {
    // The palette's backgrounds are dark, as the console is. Black text is meant for a bright background.
    if (text === 0) return { color: CONSOLE, backgroundColor: named(ground) }
    if (text === undefined || isNamed(text))
      return { color: text === undefined ? undefined : named(text), backgroundColor: groundOf(ground) }
    if (luminance(text) <= BLACK) return { color: css(text), backgroundColor: named(ground) }
    return { color: css(lightened(text, ON_GROUND)), backgroundColor: groundOf(ground) }
  }
  const backgroundColor = css(ground)
  if (isNamed(text) && text !== 0)
    return { color: luminance(ground) <= GROUND ? named(text) : blackOrWhite(ground), backgroundColor }
  const isLegible = text !== undefined && contrast(text === 0 ? [0, 0, 0] : text, ground) >= LEGIBLE
  return { color: isLegible ? (text === 0 ? 'rgb(0 0 0)' : css(text)) : blackOrWhite(ground), backgroundColor }
}

/** For inverse text: the background colour as text colour, on the console's text colour. */
function onText(color: Color) {
  if (isNamed(color)) return color === 0 ? CONSOLE : groundOf(color)
  return luminance(color) <= ON_LOG_TEXT ? css(color) : CONSOLE
}

const LEGIBLE = 4.5
/** Luminance with a contrast of 7:1 on the console's background, so that dim text is still legible. */
const ON_CONSOLE = 0.32
/** Luminance with a contrast of 4.5:1 on the brightest background of the palette, GROUND. */
const ON_GROUND = 0.42
const GROUND = 0.0518
/** Luminances with a contrast of 4.5:1 below the console's text, and below the darkest colour of the palette. */
const ON_LOG_TEXT = 0.124
const BLACK = 0.029

/** The palette is defined in console.module.scss. */
const named = (index: number) => `var(--ansi-${index})`
const groundOf = (index: number) => `var(--ansi-ground-${index})`
const CONSOLE = 'var(--log-ground)'

const isNamed = (color: Color | undefined): color is number => typeof color === 'number'
const css = (channels: Channels) => `rgb(${channels.join(' ')})`
/** Black or white: one of them always has a contrast of 4.5:1. */
const blackOrWhite = (ground: Channels) => (luminance(ground) > 0.179 ? 'rgb(0 0 0)' : 'rgb(255 255 255)')

function lightened(color: Channels, least: number) {
  let channels = color
  while (luminance(channels) < least)
    channels = channels.map((channel) => Math.ceil(channel + (255 - channel) / 8)) as [number, number, number]
  return channels
}

function contrast(one: Channels, other: Channels) {
  const [dark = 0, light = 0] = [luminance(one), luminance(other)].sort((first, second) => first - second)
  return (light + 0.05) / (dark + 0.05)
}

/** Relative luminance (WCAG 2). */
function luminance(channels: Channels) {
  const [red = 0, green = 0, blue = 0] = channels.map((channel) => {
    const share = channel / 255
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4
  })
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue
}
