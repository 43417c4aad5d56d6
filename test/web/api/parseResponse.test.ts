import { parseResponse } from '../../../src/web/api/transport/parseResponse'

test('of a very long message of the server, the beginning is kept', () => {
  const reply = (message: string) => parseResponse(400, JSON.stringify({ success: false, message }))
  expect(reply('กำ'.repeat(50_000))).toEqual({ error: { status: 400, message: 'กำ'.repeat(2000) } })
  expect(reply('a'.repeat(4000))).toEqual({ error: { status: 400, message: 'a'.repeat(4000) } })
})
