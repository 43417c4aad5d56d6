import type { IncomingMessage } from 'node:http'
import { createTrustedProxies, plainAddress } from '../../../src/platform/accounts/clientAddress'

const from = (remoteAddress: string, forwarded?: string) =>
  ({ socket: { remoteAddress }, headers: { 'x-forwarded-for': forwarded } }) as unknown as IncomingMessage

test.each([
  ['no proxy is trusted', [], '10.0.0.1', '192.0.2.7', '10.0.0.1'],
  ['the connection bypasses the proxy', ['10.0.0.1'], '10.0.0.2', '192.0.2.7', '10.0.0.2'],
  ['the proxy forwards the address', ['10.0.0.1'], '10.0.0.1', '192.0.2.7', '192.0.2.7'],
  ['the client has forged an address', ['10.0.0.1'], '10.0.0.1', '203.0.113.9, 192.0.2.7', '192.0.2.7'],
  ['there are two proxies', ['10.0.0.0/8', 'fd00::/8'], '10.0.0.1', '192.0.2.7, fd00::2', '192.0.2.7'],
  ['the proxy sends no header', ['10.0.0.1'], '10.0.0.1', undefined, '10.0.0.1'],
  ['proxies append ports', ['10.0.0.0/8'], '10.0.0.1', '192.0.2.7:5432, 10.0.0.2:443', '192.0.2.7'],
  ['the socket is dual-stack', ['10.0.0.1'], '::ffff:10.0.0.1', '192.0.2.7', '192.0.2.7'],
])('the address of a client is resolved when %s', (_case, trusted, remote, forwarded, expected) => {
  expect(createTrustedProxies(trusted).addressOf(from(remote, forwarded))).toBe(expected)
})

test('security 178: of a thousand proxies that a client within a trusted network names, sixteen are looked at', () => {
  const mayBeInstance = jest.fn(() => false)
  const proxies = createTrustedProxies(['10.0.0.0/8'], mayBeInstance)
  const forwarded = Array.from({ length: 1000 }, (_proxy, at) => `10.0.${at >> 8}.${at & 255}`).join(', ')
  // Counted from the connection's own address.
  expect(proxies.addressOf(from('10.9.9.9', forwarded))).toBe('10.0.3.216')
  expect(mayBeInstance.mock.calls.length).toBeLessThan(16)
})

test.each([
  ['192.0.2.7', '192.0.2.7'],
  ['192.0.2.7:54321', '192.0.2.7'],
  ['::ffff:192.0.2.7', '192.0.2.7'],
  ['::FFFF:c000:207', '192.0.2.7'],
  ['2001:0db8:0:0::0001', '2001:db8::1'],
  ['2001:DB8::1', '2001:db8::1'],
  ['[2001:db8::1]', '2001:db8::1'],
  ['[2001:db8::1]:54321', '2001:db8::1'],
  ['fe80::1%eth0', 'fe80::1'],
  ['unknown', 'unknown'],
  ['', ''],
])('the address %p, however a proxy writes it, is normalized to %p', (text, address) => {
  expect(plainAddress(text)).toBe(address)
})
