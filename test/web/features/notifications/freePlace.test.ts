import { freePlace, type Obstacle } from '../../../../src/web/features/notifications/freePlace'

const own = { top: 64, bottom: 112, left: 100, right: 400 }
const at = (top: number, bottom: number, more: Partial<Obstacle> = {}): Obstacle => ({
  top,
  bottom,
  left: 300,
  right: 380,
  weight: 1,
  ...more,
})

test('notifications stay at their usual place if they cover nothing there', () => {
  expect(freePlace(own, [], 800)).toBe(64)
  expect(freePlace(own, [at(200, 240)], 800)).toBe(64)
  expect(freePlace(own, [at(70, 110, { left: 0, right: 90 })], 800)).toBe(64)
})

test('notifications go below a control, to the first place that is high enough', () => {
  expect(freePlace(own, [at(70, 110)], 800)).toBe(118)
  expect(freePlace(own, [at(70, 110), at(150, 190)], 800)).toBe(198)
})

test('without a free place notifications cover as little as possible, and never the focused control', () => {
  const rows = Array.from({ length: 10 }, (_, row) => at(64 + row * 40, 104 + row * 40))
  const focused = { ...rows[0]!, weight: 100 }
  const place = freePlace(own, [focused, ...rows.slice(1)], 464)
  expect(place).toBeGreaterThanOrEqual(focused.bottom)
  // The last row has nothing below it.
  expect(place).toBe(416)
})

test('a window that is too low for the notifications leaves them where they are', () => {
  expect(freePlace(own, [at(70, 110)], 100)).toBe(64)
})

test('notifications that gave way stay there until they cover something, and then return to their usual place', () => {
  expect(freePlace(own, [], 800, 300)).toBe(300)
  expect(freePlace(own, [at(310, 340)], 800, 300)).toBe(64)
})
