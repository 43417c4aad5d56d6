import { lastErrorIn } from '../../../../src/platform/runtime/contained/conmon'

test('the last error in the log of runc is found and unquoted', () => {
  const log = [
    String.raw`time="2026-11-26T04:20:29Z" level=warning msg="unable to get oom kill count" error="no directory"`,
    String.raw`time="2026-11-26T04:20:29Z" level=error msg="runc create failed: error mounting \"/sys\" to rootfs"`,
  ].join('\n')
  expect(lastErrorIn(log)).toBe('runc create failed: error mounting "/sys" to rootfs')
  expect(lastErrorIn(String.raw`level=error msg="a byte that is no text: \xff"`)).toBe(
    String.raw`"a byte that is no text: \xff"`,
  )
  expect(lastErrorIn('conmon: option parsing failed')).toBeUndefined()
})
