import { safeOrigin } from '../../src/contract/signIn/safeOrigin'

test.each([
  ['/', '/'],
  ['/files/lobby?sort=size', '/files/lobby?sort=size'],
  ['/files/a%20b/%D0%B6', '/files/a%20b/%D0%B6'],
  ['/files/ж', '/files/%D0%B6'],
  ['/instance/lobby/1?next=//evil.example', '/instance/lobby/1?next=//evil.example'],
  ['/files/https://evil.example', '/files/https://evil.example'],
])('security 60: %p stays on this origin and is followed', (path, followed) => {
  expect(safeOrigin(path)).toBe(followed)
})

test.each([
  ['//evil.example'],
  ['///evil.example'],
  ['/\\evil.example'],
  ['\\\\evil.example'],
  ['/files\\..\\evil'],
  ['/.//evil.example'],
  ['/files/..//evil.example'],
  ['/%2e//evil.example'],
  ['/\t/evil.example'],
  ['/\n/evil.example'],
  ['/\u0000/evil.example'],
  ['/files\u007f'],
  [' /files'],
  ['javascript:alert(1)'],
  ['JavaScript:alert(1)'],
  ['data:text/html,x'],
  ['https://evil.example/'],
  ['https://deck.example:8443/files'],
  ['https://deck.example:9000/files'],
  ['http://deck.example:8443/files'],
  ['files'],
  [''],
  ['/login'],
  ['/login?again'],
  ['/register'],
  [undefined],
  [null],
  [['//evil.example']],
])('security 60: the origin %p is replaced by /', (path) => {
  expect(safeOrigin(path)).toBe('/')
})
