import { act } from '@testing-library/react'

/** Fakes the timers of the page; the mocked network keeps using the real clock. */
export const fakeClock = () =>
  jest.useFakeTimers({ doNotFake: ['setImmediate', 'queueMicrotask', 'nextTick', 'performance'] })

export const pass = (milliseconds: number) => act(() => jest.advanceTimersByTimeAsync(milliseconds))
