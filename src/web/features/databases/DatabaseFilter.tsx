import { useDispatch } from 'react-redux'
import { filtered } from './databasesSlice'

export function DatabaseFilter({ filter }: { filter: string }) {
  const dispatch = useDispatch()
  return (
    <input
      type="search"
      className="form-control databases-filter"
      aria-label="Filter databases"
      placeholder="Filter by name"
      autoComplete="off"
      autoCapitalize="none"
      spellCheck={false}
      value={filter}
      onChange={(event) => dispatch(filtered(event.target.value))}
    />
  )
}
