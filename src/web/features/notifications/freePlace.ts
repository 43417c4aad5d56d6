/** In CSS pixels, from the top left of the window. */
export type Box = { top: number; bottom: number; left: number; right: number }
/** `weight`: the cost of covering it. */
export type Obstacle = Box & { weight: number }

/** The gap between a notification and an obstacle above or below it. */
const GAP_PX = 8

/**
 * Returns the top of the notifications so that they cover as little as possible of the user's controls: their usual
 * position if it is free, else the first free one below it, else the one that covers least.
 * @param bottom the lowest allowed bottom edge
 * @param shown their present top, which is kept while they cover nothing, so that they do not jump
 */
export function freePlace(own: Box, obstacles: readonly Obstacle[], bottom: number, shown = own.top): number {
  const height = own.bottom - own.top
  const near = obstacles.filter(({ left, right }) => left < own.right && right > own.left)
  const costAt = (top: number) =>
    near.reduce((sum, obstacle) => sum + covered({ ...own, top, bottom: top + height }, obstacle), 0)
  const isInside = (top: number) => top >= own.top && top + height <= bottom
  if (isInside(shown) && costAt(shown) === 0) return shown

  const below = near.map((obstacle) => Math.ceil(obstacle.bottom) + GAP_PX)
  const places = [own.top, ...below, bottom - height].filter(isInside).sort((a, b) => a - b)
  const costs = places.map(costAt)
  return places[costs.indexOf(Math.min(...costs))] ?? own.top
}

/** The covered area, weighted. */
function covered(box: Box, { weight, ...obstacle }: Obstacle): number {
  const width = Math.min(box.right, obstacle.right) - Math.max(box.left, obstacle.left)
  const height = Math.min(box.bottom + GAP_PX, obstacle.bottom) - Math.max(box.top - GAP_PX, obstacle.top)
  return width > 0 && height > 0 ? width * height * weight : 0
}
