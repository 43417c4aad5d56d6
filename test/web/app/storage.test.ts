import { openStorage } from '../../../src/web/app/storage'

afterEach(() => jest.restoreAllMocks())

test('openStorage returns localStorage when it is available', () => {
  expect(openStorage()).toBe(window.localStorage)
})

test('openStorage falls back to memory when the browser denies localStorage', () => {
  jest.spyOn(window, 'localStorage', 'get').mockImplementation(() => {
    throw new DOMException('denied', 'SecurityError')
  })
  const storage = openStorage()
  storage.setItem('theme', 'dark')
  expect(storage.getItem('theme')).toBe('dark')
  storage.removeItem('theme')
  expect(storage.getItem('theme')).toBeNull()
})
