import { sendUpload } from '../../../../src/web/features/files/uploads/sendUpload'

test('§7 an upload sends the path and the raw file name, because browsers percent-encode quotes in part names', () => {
  const open = jest.spyOn(XMLHttpRequest.prototype, 'open')
  const send = jest.spyOn(XMLHttpRequest.prototype, 'send').mockImplementation(() => undefined)
  const listener = { sent: jest.fn(), answered: jest.fn(), failed: jest.fn() }
  sendUpload(
    { file: new Blob(['x']), name: 'a"b.txt', directory: '/nfsshare/lobby', onConflict: 'refuse', token: undefined },
    listener,
  )
  const form = send.mock.calls[0]![0] as FormData
  send.mockRestore()
  expect(open).toHaveBeenCalledWith('POST', '/api/sftp/upload')
  open.mockRestore()
  expect([...form.keys()]).toEqual(['path', 'onConflict', 'names', 'files'])
  expect(JSON.parse(form.get('names') as string)).toEqual(['a"b.txt'])
})
