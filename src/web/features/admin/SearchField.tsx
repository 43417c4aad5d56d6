import { ActionIcon } from '../../ui/ActionIcon'
import styles from './admin.module.scss'

export function SearchField({
  label,
  text,
  onChange,
}: {
  label: string
  text: string
  onChange: (text: string) => void
}) {
  return (
    <div className={styles.search} role="search">
      <ActionIcon name="search" />
      <input
        type="search"
        className="form-control"
        aria-label={label}
        placeholder={label}
        autoComplete="off"
        spellCheck={false}
        maxLength={200}
        value={text}
        onChange={(event) => onChange(event.target.value)}
      />
    </div>
  )
}
