import { render, screen } from '@testing-library/react'
import userEvent from '@testing-library/user-event'
import { Menu, MenuItem } from '../../../src/web/ui/Menu'

function shown() {
  const chosen: string[] = []
  const choose = (name: string) => () => void chosen.push(name)
  render(
    <>
      <Menu label="Actions for lobby">
        <MenuItem onClick={choose('Restart')}>Restart</MenuItem>
        <MenuItem onClick={choose('Disable')} disabledBecause="It is being changed">
          Disable
        </MenuItem>
        <MenuItem onClick={choose('Delete')}>Delete</MenuItem>
      </Menu>
      <button type="button">After</button>
    </>,
  )
  return { user: userEvent.setup(), chosen }
}
const button = () => screen.getByRole('button', { name: 'Actions for lobby' })
const item = (name: string) => screen.getByRole('menuitem', { name })

test('the button opens a menu with its own name and moves the focus to the first item', async () => {
  const { user } = shown()
  expect(button()).toHaveAttribute('aria-haspopup', 'menu')
  expect(button()).toHaveAttribute('aria-expanded', 'false')
  await user.click(button())
  expect(button()).toHaveAttribute('aria-expanded', 'true')
  expect(screen.getByRole('menu', { name: 'Actions for lobby' })).toBeInTheDocument()
  expect(screen.getAllByRole('menuitem')).toHaveLength(3)
  expect(item('Restart')).toHaveFocus()
})

test('arrow keys wrap around, Home and End go to the ends, and a letter to the next item that begins with it', async () => {
  const { user } = shown()
  button().focus()
  await user.keyboard('{ArrowDown}')
  expect(item('Restart')).toHaveFocus()
  for (const [key, name] of [
    ['{ArrowUp}', 'Delete'],
    ['{ArrowDown}', 'Restart'],
    ['{ArrowDown}', 'Disable'],
    ['{End}', 'Delete'],
    ['{Home}', 'Restart'],
    ['d', 'Disable'],
    ['d', 'Delete'],
    ['d', 'Disable'],
  ] as const) {
    await user.keyboard(key)
    expect(item(name)).toHaveFocus()
  }
})

test('Enter and Space choose; the menu closes and the focus returns to the button', async () => {
  const { user, chosen } = shown()
  for (const key of ['{Enter}', ' ']) {
    await user.click(button())
    await user.keyboard(`{End}${key}`)
    expect(screen.queryByRole('menu')).toBeNull()
    expect(button()).toHaveFocus()
  }
  expect(chosen).toEqual(['Delete', 'Delete'])
})

test('a disabled item can be focused, says why it is disabled, and does nothing', async () => {
  const { user, chosen } = shown()
  await user.click(button())
  await user.keyboard('{ArrowDown}')
  expect(item('Disable')).toHaveFocus()
  expect(item('Disable')).toHaveAttribute('aria-disabled', 'true')
  expect(item('Disable')).toHaveAccessibleDescription('It is being changed')
  await user.keyboard('{Enter}')
  await user.click(item('Disable'))
  expect(chosen).toEqual([])
  expect(screen.getByRole('menu')).toBeInTheDocument()
})

test('among several choices the current one is checked and focused first', async () => {
  const user = userEvent.setup()
  render(
    <Menu label="Order">
      {['Name', 'Size', 'Age'].map((name) => (
        <MenuItem key={name} isChosen={name === 'Size'} onClick={() => undefined}>
          {name}
        </MenuItem>
      ))}
    </Menu>,
  )
  await user.click(screen.getByRole('button', { name: 'Order' }))
  expect(screen.getByRole('menuitemradio', { name: 'Size', checked: true })).toHaveFocus()
  expect(screen.getAllByRole('menuitemradio', { checked: false })).toHaveLength(2)
  await user.keyboard('{ArrowDown}')
  expect(screen.getByRole('menuitemradio', { name: 'Age' })).toHaveFocus()
})

test('Escape closes the menu and returns the focus; Tab closes it and moves on to the next control', async () => {
  const { user } = shown()
  await user.click(button())
  await user.keyboard('{Escape}')
  expect(screen.queryByRole('menu')).toBeNull()
  expect(button()).toHaveFocus()
  await user.click(button())
  await user.tab()
  expect(screen.queryByRole('menu')).toBeNull()
  expect(screen.getByRole('button', { name: 'After' })).toHaveFocus()
})
