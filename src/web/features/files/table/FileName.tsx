import { Link } from 'react-router-dom'
import type { FileEntry } from '../../../../contract/file'
import { isEditable } from './fileEntries'
import { addressOfPath } from '../sharedPath'
import styles from './fileTable.module.scss'

/** A directory is a link, a text opens in the editor. `bdi` isolates names with bidirectional control characters. */
export function FileName({ entry, tabIndex, onOpen }: { entry: FileEntry; tabIndex: number; onOpen: () => void }) {
  const { name, path, type } = entry
  const text = <bdi title={name}>{name}</bdi>
  if (type === 'd') {
    return (
      <Link className={styles.fileName} to={addressOfPath(path)} tabIndex={tabIndex} draggable={false}>
        {text}
      </Link>
    )
  }
  if (isEditable(entry)) {
    return (
      <button type="button" className={styles.fileName} tabIndex={tabIndex} onClick={onOpen}>
        {text}
      </button>
    )
  }
  return (
    <span className={styles.fileName}>
      {text}
      {type === 'l' && <small>leads out of the shared area</small>}
    </span>
  )
}
