import type { FileEntry } from '../../../../contract/file'
import { Glyph } from '../../../ui/Glyph'
import { isArchived } from './fileEntries'
import styles from './fileTable.module.scss'

const SHEET = 'M6 3h8l4 4v14H6zM14 3v4h4'
const paths = {
  directory: 'M3 18.5V6a1 1 0 0 1 1-1h5l2 2.5h9a1 1 0 0 1 1 1v10a1 1 0 0 1-1 1H4a1 1 0 0 1-1-1Z',
  archive: 'M4 4h16v5H4zM5 9v11h14V9m-8.5 3.5h3',
  text: `${SHEET}M9 12h6M9 15.5h6`,
  link: 'M10 14a4 4 0 0 0 6 .4l3-3a4 4 0 0 0-5.6-5.6l-1 1M14 10a4 4 0 0 0-6-.4l-3 3a4 4 0 0 0 5.6 5.6l1-1',
  other: SHEET,
} as const

export function FileIcon({ entry }: { entry: FileEntry }) {
  const kind =
    entry.type === 'd'
      ? 'directory'
      : entry.type === 'l'
        ? 'link'
        : isArchived(entry)
          ? 'archive'
          : entry.isText
            ? 'text'
            : 'other'
  return (
    <span className={kind === 'directory' ? `${styles.fileIcon} ${styles.directory}` : styles.fileIcon}>
      <Glyph path={paths[kind]} size={18} />
    </span>
  )
}
