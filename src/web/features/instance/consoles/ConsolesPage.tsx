import { useRef } from 'react'
import Button from 'react-bootstrap/Button'
import { useDispatch, useSelector } from 'react-redux'
import { MAX_CONSOLES } from '../../../addresses'
import { usePolledOverview } from '../../../api/network'
import { failureHint, failureText } from '../../../failure'
import '../../../sockets/consoleSocket'
import { ActionIcon } from '../../../ui/ActionIcon'
import { EmptyState } from '../../../ui/EmptyState'
import { LoadFailure } from '../../../ui/LoadFailure'
import '../console/consoleListeners'
import { BroadcastLine } from './BroadcastLine'
import { ConsolePane } from './ConsolePane'
import { pickerOpened, selectFront, selectPicker } from './consolesSlice'
import { PickerDialog } from './PickerDialog'
import { ShownSwitch } from './ShownSwitch'
import { useShowConsoles, useShownConsoles } from './useShownConsoles'
import styles from './consoles.module.scss'

/** Up to four consoles side by side, with one command line. */
export function ConsolesPage() {
  const { data, error, isFetching, refetch } = usePolledOverview()
  const consoles = useShownConsoles(data)
  const show = useShowConsoles()
  const front = useSelector(selectFront)
  const isPicking = useSelector(selectPicker) !== null
  const dispatch = useDispatch()
  const field = useRef<HTMLInputElement>(null)
  const toCommand = () => field.current?.focus()

  const choose = (
    <Button
      variant={consoles.length === 0 ? 'primary' : 'outline-secondary'}
      className="with-icon"
      onClick={() => dispatch(pickerOpened())}
    >
      <ActionIcon name="plus" />
      Choose Consoles
    </Button>
  )
  return (
    <div className={styles.page}>
      <title>Consoles · Quarterdeck</title>
      <div className={styles.head}>
        <h1>Consoles</h1>
        <p className={styles.summary}>{consoles.length > 0 && `${consoles.length} of at most ${MAX_CONSOLES}`}</p>
        {consoles.length > 0 && choose}
      </div>
      {error && (
        <LoadFailure
          title="Failed to Load Data"
          detail={failureText(error, 'Failed to fetch network data')}
          hint={failureHint(error)}
          busy={isFetching}
          onRetry={refetch}
        />
      )}
      {consoles.length === 0 ? (
        <EmptyState action={choose}>Choose up to four instances to see their consoles side by side</EmptyState>
      ) : (
        <>
          <ShownSwitch consoles={consoles} />
          <div className={`${styles.panes} ${styles[`of${consoles.length}`]}`}>
            {consoles.map((console, index) => (
              <ConsolePane
                key={`${console.pane} ${console.uid}`}
                console={console}
                number={index + 1}
                isFront={console.pane === front}
                onClose={() => {
                  show((shown) => shown.filter((uid) => uid !== console.uid))
                  toCommand()
                }}
                onLeave={toCommand}
              />
            ))}
          </div>
          <BroadcastLine consoles={consoles} field={field} />
        </>
      )}
      {isPicking && (
        <PickerDialog
          overview={data}
          uids={consoles.map(({ uid }) => uid)}
          onChange={(uid, isShown) =>
            show((shown) => [...shown.filter((other) => other !== uid), ...(isShown ? [uid] : [])])
          }
        />
      )}
    </div>
  )
}
