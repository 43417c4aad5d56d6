import Button from 'react-bootstrap/Button'
import Modal from 'react-bootstrap/Modal'
import { useDispatch, useSelector } from 'react-redux'
import type { Instance } from '../../../../contract/instance'
import { MAX_CONSOLES } from '../../../addresses'
import type { Overview } from '../../../api/network'
import { missingRight, useAccess } from '../../../api/useAccess'
import { Checkbox } from '../../../ui/form/Checkbox'
import { SearchField } from '../../../ui/SearchField'
import { pickerClosed, pickerSearched, selectPicker } from './consolesSlice'
import { StateText } from './ConsolePane'
import styles from './consoles.module.scss'

/** Maximum number of results. Scrolling through more is slower than typing another letter. */
const MAX_LISTED = 100

type PickerDialogProps = {
  overview: Overview | undefined
  uids: string[]
  onChange: (uid: string, isShown: boolean) => void
}

/** Chooses the instances whose consoles are shown. Each choice applies at once. */
export function PickerDialog({ overview, uids, onChange }: PickerDialogProps) {
  const query = useSelector(selectPicker)?.query ?? ''
  const { may } = useAccess()
  const dispatch = useDispatch()
  const wanted = query.trim().toLowerCase()
  const found = (overview?.sections ?? [])
    .flatMap(({ instances }) => instances)
    .filter(({ name, description }) => `${name} ${description ?? ''}`.toLowerCase().includes(wanted))
  const isFull = uids.length >= MAX_CONSOLES
  const close = () => dispatch(pickerClosed())

  const option = ({ uid, name, deployment, state }: Instance) => {
    const isShown = uids.includes(uid)
    const reason = may('console', deployment)
      ? isFull && !isShown
        ? `${MAX_CONSOLES} consoles are shown already`
        : undefined
      : missingRight('console')
    return (
      <li key={uid} title={reason}>
        <Checkbox checked={isShown} disabledBecause={reason} onChange={(checked) => onChange(uid, checked)}>
          {name}
        </Checkbox>
        <StateText state={state} />
      </li>
    )
  }
  return (
    <Modal show onHide={close} centered scrollable aria-labelledby="picker-title">
      <Modal.Header closeButton>
        <Modal.Title as="h2" id="picker-title">
          Choose Consoles
        </Modal.Title>
      </Modal.Header>
      <Modal.Body className={styles.picker}>
        <SearchField label="Search instances" text={query} onChange={(text) => dispatch(pickerSearched(text))} />
        <p className={styles.pickerStatus} role="status">
          {pickerStatus(found.length, uids.length)}
        </p>
        <ul>{found.slice(0, MAX_LISTED).map(option)}</ul>
      </Modal.Body>
      <Modal.Footer>
        <Button onClick={close}>Done</Button>
      </Modal.Footer>
    </Modal>
  )
}

function pickerStatus(found: number, chosen: number): string {
  if (found === 0) return 'No instances match'
  const more = found > MAX_LISTED ? `; the first ${MAX_LISTED} are listed` : ''
  return `${chosen} of at most ${MAX_CONSOLES} chosen${more}`
}
