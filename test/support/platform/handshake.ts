/** The request that opens a WebSocket (RFC 6455 §4.1), for connections that a client library would not make. */
export const handshakeOf = (path: string, ...headers: string[]): string =>
  [
    `GET ${path} HTTP/1.1`,
    ...headers,
    'Upgrade: websocket',
    'Connection: Upgrade',
    'Sec-WebSocket-Version: 13',
    `Sec-WebSocket-Key: ${Buffer.alloc(16).toString('base64')}`,
    '\r\n',
  ].join('\r\n')
