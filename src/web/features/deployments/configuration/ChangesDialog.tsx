import Button from 'react-bootstrap/Button'
import Modal from 'react-bootstrap/Modal'
import { useDispatch } from 'react-redux'
import { counted } from '../../../ui/counted'
import { changedLines } from './changedLines'
import { dialogClosed } from './configurationSlice'
import styles from './configuration.module.scss'

const signs = { same: ' ', added: '+', removed: '-' }
const words = { same: undefined, added: 'Added: ', removed: 'Removed: ' }
const rowStyles = { same: undefined, added: styles.changesAdded, removed: styles.changesRemoved }

export function ChangesDialog({ name, stored, text }: { name: string; stored: string; text: string }) {
  const dispatch = useDispatch()
  const close = () => dispatch(dialogClosed())
  const lines = changedLines(stored, text)
  const count = (kind: string) => lines.filter((line) => line.kind === kind).length

  return (
    <Modal show onHide={close} size="lg" scrollable centered aria-labelledby="changes-title">
      <Modal.Header closeButton>
        <Modal.Title as="h2" id="changes-title">
          Changes to {name}
        </Modal.Title>
      </Modal.Header>
      <Modal.Body className={styles.changes} tabIndex={0} role="group" aria-labelledby="changes-title">
        {lines.length === 0 ? (
          <p className={styles.changesNone}>No changes</p>
        ) : (
          <>
            <p className={styles.changesSummary}>
              {counted(count('added'), 'line')} added, {counted(count('removed'), 'line')} removed, compared with the
              stored text
            </p>
            <table>
              <thead className="visually-hidden">
                <tr>
                  <th scope="col">Stored line</th>
                  <th scope="col">New line</th>
                  <th scope="col">Text</th>
                </tr>
              </thead>
              <tbody>
                {lines.map((line, index) =>
                  line.kind === 'gap' ? (
                    <tr key={index} className={styles.changesGap}>
                      <td colSpan={3}>{line.count} unchanged lines</td>
                    </tr>
                  ) : (
                    <tr key={index} className={rowStyles[line.kind]}>
                      <td>{line.before}</td>
                      <td>{line.after}</td>
                      <td>
                        <span aria-hidden="true">{signs[line.kind]} </span>
                        {words[line.kind] && <span className="visually-hidden">{words[line.kind]}</span>}
                        {line.text}
                      </td>
                    </tr>
                  ),
                )}
              </tbody>
            </table>
          </>
        )}
      </Modal.Body>
      <Modal.Footer>
        <Button variant="outline-secondary" onClick={close}>
          Close
        </Button>
      </Modal.Footer>
    </Modal>
  )
}
