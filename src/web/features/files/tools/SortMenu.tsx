import { useDispatch, useSelector } from 'react-redux'
import { Glyph } from '../../../ui/Glyph'
import { Menu, MenuItem } from '../../../ui/Menu'
import { menuClosed, menuOpened, orderChosen, selectMenu, selectSort, SORT_MENU } from '../filesSlice'
import { type SortKey, columns } from '../table/fileEntries'

const ORDER = 'M8 19V5m-3.5 3.5L8 5l3.5 3.5M16 5v14m-3.5-3.5L16 19l3.5-3.5'

/** Names of the ascending and the descending order. */
const orderNames: Record<SortKey, readonly [string, string]> = {
  name: ['A to Z', 'Z to A'],
  size: ['smallest first', 'largest first'],
  modifyTime: ['oldest first', 'newest first'],
}

export function SortMenu() {
  const sort = useSelector(selectSort)
  const isOpen = useSelector(selectMenu) === SORT_MENU
  const dispatch = useDispatch()
  const orders = columns.flatMap(({ by, title }) =>
    [false, true].map((descending) => ({ by, descending, title, order: orderNames[by][Number(descending)] })),
  )
  const chosen = orders.find(({ by, descending }) => by === sort.by && descending === sort.descending)
  return (
    <Menu
      label={`Sort: ${chosen?.title}, ${chosen?.order}`}
      button={
        <>
          <Glyph path={ORDER} size={18} />
          {chosen?.title}
        </>
      }
      isOpen={isOpen}
      onToggle={(open) => dispatch(open ? menuOpened(SORT_MENU) : menuClosed())}
    >
      {orders.map((order) => (
        <MenuItem
          key={`${order.by} ${order.order}`}
          isChosen={order === chosen}
          onClick={() => {
            dispatch(orderChosen({ by: order.by, descending: order.descending }))
            dispatch(menuClosed())
          }}
        >
          {order.title}, {order.order}
        </MenuItem>
      ))}
    </Menu>
  )
}
