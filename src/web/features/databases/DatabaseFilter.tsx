import { useDispatch } from 'react-redux'
import { filterTyped } from './databasesSlice'
import styles from './databases.module.scss'

export function DatabaseFilter({ filter }: { filter: string }) {
  const dispatch = useDispatch()
  return (
    <input
      type="search"
      className={`form-control ${styles.filter}`}
      aria-label="Filter databases"
      placeholder="Filter by name"
      autoComplete="off"
      autoCapitalize="none"
      spellCheck={false}
      value={filter}
      onChange={(event) => dispatch(filterTyped(event.target.value))}
    />
  )
}
