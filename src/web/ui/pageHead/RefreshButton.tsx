import Button from 'react-bootstrap/Button'
import { ActionIcon } from '../ActionIcon'

type RefreshButtonProps = { busy: boolean; onRefresh: () => unknown }

/** Loads the list of a page again. While it is `busy`, its icon turns and a click does nothing. */
export function RefreshButton({ busy, onRefresh }: RefreshButtonProps) {
  return (
    <Button
      variant="outline-secondary"
      className="refresh-button"
      aria-label="Refresh"
      title="Refresh"
      aria-busy={busy}
      aria-disabled={busy}
      onClick={() => !busy && onRefresh()}
    >
      <ActionIcon name="restart" />
    </Button>
  )
}
