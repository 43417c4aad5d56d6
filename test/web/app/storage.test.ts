import { openStorage } from '../../../src/web/app/storage'

afterEach(() => jest.restoreAllMocks())

test('the storage of the browser is used where there is one', () => {
  expect(openStorage()).toBe(window.localStorage)
})

test('a browser that refuses its storage gets one that lasts as long as the page', () => {
  jest.spyOn(window, 'localStorage', 'get').mockImplementation(() => {
    throw new DOMException('denied', 'SecurityError')
  })
  const storage = openStorage()
  storage.setItem('theme', 'dark')
  expect(storage.getItem('theme')).toBe('dark')
  storage.removeItem('theme')
  expect(storage.getItem('theme')).toBeNull()
})
