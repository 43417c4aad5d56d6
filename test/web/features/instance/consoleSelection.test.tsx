import { act, fireEvent, screen } from '@testing-library/react'
import { ROW, consolePage, numbered, field, log, tool, scrollTo, mockLogLayout } from '../../../support/web/consolePage'

mockLogLayout()

test('Copy copies all lines as plain text, including lines out of view', async () => {
  const { print, user } = await consolePage()
  await print(...numbered(1, 200), '\u001b[31mred\u001b[0m')
  const write = jest.spyOn(navigator.clipboard, 'writeText')
  await user.click(tool('Copy the selection, or all lines'))
  expect(write).toHaveBeenCalledWith([...numbered(1, 200), 'red', ''].join('\n'))
  expect(await screen.findByText('Copied 201 lines')).toBeVisible()
})

test('Copy copies the selection in the log', async () => {
  const { print, user } = await consolePage()
  await print('one', 'two', 'three')
  const text = screen.getByText('two').firstChild!
  window.getSelection()!.setBaseAndExtent(text, 0, text, 3)
  const write = jest.spyOn(navigator.clipboard, 'writeText')
  await user.click(tool('Copy the selection, or all lines'))
  expect(write).toHaveBeenCalledWith('two')
})

const copied = () => {
  const event = new Event('copy', { bubbles: true, cancelable: true })
  let text: string | undefined
  Object.assign(event, { clipboardData: { setData: (_type: string, data: string) => (text = data) } })
  fireEvent(document.body, event)
  return text
}

test('Ctrl+A selects all lines of the log; Ctrl+C and Copy include lines out of view', async () => {
  const { print, user } = await consolePage()
  await print(...numbered(1, 200))
  act(() => log().focus())
  await user.keyboard('{Control>}a{/Control}')
  expect(window.getSelection()!.toString()).toContain('line 200')
  expect(copied()).toBe(numbered(1, 200).join('\n'))
  await print('later')
  const write = jest.spyOn(navigator.clipboard, 'writeText')
  await user.click(tool('Copy the selection, or all lines'))
  expect(write).toHaveBeenCalledWith(numbered(1, 200).join('\n'))
  expect(await screen.findByText('Copied the selection')).toBeVisible()
  act(() => log().focus())
  await user.keyboard('{Escape}')
  expect(window.getSelection()!.isCollapsed).toBe(true)
  expect(copied()).toBeUndefined()
})

test('the log selection survives scrolling', async () => {
  const { print, user } = await consolePage()
  await print(...numbered(1, 300))
  scrollTo(0)
  act(() => log().focus())
  await user.keyboard('{Control>}a{/Control}')
  scrollTo(150 * ROW)
  expect(window.getSelection()!.toString()).toContain('line 151')
  expect(window.getSelection()!.toString()).not.toContain('line 300')
  expect(copied()).toBe(numbered(1, 300).join('\n'))
})

test('focusing the command field or clearing the log ends the log selection', async () => {
  const { print, user } = await consolePage()
  await print('one', 'two')
  const selectAll = async () => {
    act(() => log().focus())
    await user.keyboard('{Control>}a{/Control}')
    expect(copied()).toBe('one\ntwo')
  }
  await selectAll()
  await user.click(field())
  expect(copied()).toBeUndefined()
  await selectAll()
  await user.click(tool('Clear'))
  expect(copied()).toBeUndefined()
})

test('Download saves the lines as a .log file named after the instance', async () => {
  const { print, user } = await consolePage()
  await print('\u001b[31mred\u001b[0m', 'plain')
  const createUrl = jest.spyOn(URL, 'createObjectURL').mockReturnValue('#')
  const names: string[] = []
  jest.spyOn(HTMLAnchorElement.prototype, 'click').mockImplementation(function (this: HTMLAnchorElement) {
    names.push(this.download)
  })
  await user.click(tool('Download'))
  expect(names).toEqual(['3fa2c1-lobby.log'])
  expect(await (createUrl.mock.calls[0]![0] as Blob).text()).toBe('red\nplain\n')
})
