import { renderHook } from '@testing-library/react'
import type { ReactNode } from 'react'
import { Provider } from 'react-redux'
import { usePollingInterval } from '../../../src/web/api/transport/usePollingInterval'
import { makeStore } from '../../../src/web/app/store'
import { fakeRealtime, fakeServices } from '../../support/web/services'

function intervalOf(ms: number, numbers: number[]) {
  const random = jest.fn(() => numbers.shift() ?? NaN)
  const store = makeStore({ ...fakeServices(), random, connectRealtime: fakeRealtime().connect })
  const wrapper = ({ children }: { children: ReactNode }) => <Provider store={store}>{children}</Provider>
  const { result, rerender } = renderHook(() => usePollingInterval(ms), { wrapper })
  rerender()
  return result.current
}

test.each([
  [3000, 0, 2700],
  [3000, 0.5, 3000],
  [3000, 0.999, 3299],
  [0, 0.999, 0],
])(
  'the interval of a poll, %d ms, varies by a tenth and stays the same while the page is open',
  (ms, number, varied) => {
    expect(intervalOf(ms, [number, 0.25])).toBe(varied)
  },
)
