import { useDispatch, useSelector } from 'react-redux'
import type { FileEntry } from '../../../../contract/file'
import { Menu, MenuItem } from '../../../ui/Menu'
import { isArchived, isEditable, isFile } from './fileEntries'
import { menuClosed, menuOpened, selectMenu } from '../filesSlice'
import type { FileActions } from '../useFileActions'

export function RowMenu({ entry, tabIndex, actions }: { entry: FileEntry; tabIndex: number; actions: FileActions }) {
  const isOpen = useSelector(selectMenu) === entry.path
  const dispatch = useDispatch()
  const isLink = entry.type === 'l'
  return (
    <Menu
      label={`Actions for ${entry.name}`}
      tabIndex={tabIndex}
      heading={isFile(entry) && !isEditable(entry) && 'This file cannot be edited here'}
      isOpen={isOpen}
      onToggle={(open) => dispatch(open ? menuOpened(entry.path) : menuClosed())}
    >
      {!isLink && <MenuItem onClick={() => actions.download([entry])}>Download</MenuItem>}
      <MenuItem onClick={() => actions.rename(entry)}>Rename</MenuItem>
      {!isLink && isArchived(entry) && <MenuItem onClick={() => actions.unarchive(entry)}>Unarchive</MenuItem>}
      {!isLink && !isArchived(entry) && <MenuItem onClick={() => actions.archive([entry])}>Archive</MenuItem>}
      <MenuItem danger onClick={() => actions.remove([entry])}>
        Delete
      </MenuItem>
    </Menu>
  )
}
