import Dropdown from 'react-bootstrap/Dropdown'
import { useDispatch, useSelector } from 'react-redux'
import type { FileEntry } from '../../../../contract/file'
import { Glyph } from '../../../ui/Glyph'
import { isArchived } from './fileEntries'
import { menuClosed, menuOpened, selectMenu } from '../filesSlice'
import type { FileActions } from '../useFileActions'
import '../../../styles/dropdown.scss'
import styles from './rowMenu.module.scss'

/** Positioned from the left: from the right, Popper includes the width of the scrollbar, a fixed element does not. */
const POPPER = { strategy: 'fixed' as const, modifiers: [{ name: 'computeStyles', options: { adaptive: false } }] }
const DOTS = 'M12 5.5v.1M12 12v.1M12 18.5v.1'

export function RowMenu({ entry, tabIndex, actions }: { entry: FileEntry; tabIndex: number; actions: FileActions }) {
  const isOpen = useSelector(selectMenu) === entry.path
  const dispatch = useDispatch()
  const isLink = entry.type === 'l'
  return (
    <Dropdown show={isOpen} align="end" onToggle={(open) => dispatch(open ? menuOpened(entry.path) : menuClosed())}>
      <Dropdown.Toggle
        as="button"
        bsPrefix={styles.toggle}
        type="button"
        tabIndex={tabIndex}
        aria-label={`Actions for ${entry.name}`}
      >
        <Glyph path={DOTS} size={20} />
      </Dropdown.Toggle>
      {isOpen && (
        <Dropdown.Menu className={styles.menu} popperConfig={POPPER}>
          {!isLink && (
            <Dropdown.Item as="button" onClick={() => actions.download([entry])}>
              Download
            </Dropdown.Item>
          )}
          <Dropdown.Item as="button" onClick={() => actions.rename(entry)}>
            Rename
          </Dropdown.Item>
          {!isLink && isArchived(entry) && (
            <Dropdown.Item as="button" onClick={() => actions.unarchive(entry)}>
              Unarchive
            </Dropdown.Item>
          )}
          {!isLink && !isArchived(entry) && (
            <Dropdown.Item as="button" onClick={() => actions.archive([entry])}>
              Archive
            </Dropdown.Item>
          )}
          <Dropdown.Item as="button" className={styles.danger} onClick={() => actions.remove([entry])}>
            Delete
          </Dropdown.Item>
        </Dropdown.Menu>
      )}
    </Dropdown>
  )
}
