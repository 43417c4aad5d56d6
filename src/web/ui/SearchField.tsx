import { ActionIcon } from './ActionIcon'

type SearchFieldProps = {
  /** Its accessible name. */
  label: string
  /** Shown while it is empty; the label by default. */
  placeholder?: string
  text: string
  onChange: (text: string) => void
}

/** Searches or filters the list below it. The key `/` focuses the first search field of a page. */
export function SearchField({ label, placeholder = label, text, onChange }: SearchFieldProps) {
  return (
    <div className="search-field" role="search">
      <ActionIcon name="search" />
      <input
        type="search"
        className="form-control"
        aria-label={label}
        placeholder={placeholder}
        autoComplete="off"
        autoCapitalize="none"
        spellCheck={false}
        maxLength={200}
        value={text}
        onChange={(event) => onChange(event.target.value)}
      />
    </div>
  )
}
