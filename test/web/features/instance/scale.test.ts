/** @jest-environment node */
import { scaleUpTo } from '../../../../src/web/features/instance/metrics/scale'

const labelsUpTo = (highest: number) => {
  const { max, ticks, text } = scaleUpTo(highest)
  return Array.from({ length: ticks + 1 }, (_, tick) => text((max * tick) / ticks))
}

test.each([
  [0, ['0.0', '0.1']],
  [0.3, ['0.0', '0.1', '0.2', '0.3']],
  [2, ['0.0', '0.5', '1.0', '1.5', '2.0']],
  [5, ['0', '1', '2', '3', '4', '5']],
  [9, ['0', '2', '4', '6', '8', '10']],
  [12, ['0.0', '2.5', '5.0', '7.5', '10.0', '12.5']],
  [1000, ['0', '200', '400', '600', '800', '1,000']],
  [1024, ['0', '250', '500', '750', '1,000', '1,250']],
])('the labels of an axis up to %p are round numbers that match their ticks', (highest, labels) => {
  expect(labelsUpTo(highest)).toEqual(labels)
})

test('the highest value is always on the scale, and every label is the value of its tick', () => {
  for (let highest = 0.01; highest < 1e7; highest *= 1.07) {
    const { max, ticks } = scaleUpTo(highest)
    expect(max).toBeGreaterThanOrEqual(highest - 1e-6)
    expect(ticks).toBeLessThanOrEqual(6)
    for (const [tick, label] of labelsUpTo(highest).entries())
      expect(Number(label.replaceAll(',', ''))).toBeCloseTo((max * tick) / ticks, 6)
  }
})
