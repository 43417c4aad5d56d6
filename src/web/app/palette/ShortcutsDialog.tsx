import Modal from 'react-bootstrap/Modal'
import { useDispatch, useSelector } from 'react-redux'
import { Checkbox } from '../../ui/form/Checkbox'
import { paletteClosed, selectSingleKeys, singleKeysChosen } from './paletteSlice'
import { MODIFIED_SHORTCUTS, SINGLE_KEY_SHORTCUTS } from './shortcuts'
import styles from './palette.module.scss'

export function ShortcutsDialog() {
  const singleKeys = useSelector(selectSingleKeys)
  const dispatch = useDispatch()
  return (
    <Modal show onHide={() => dispatch(paletteClosed())} centered scrollable aria-labelledby="shortcuts-title">
      <Modal.Header closeButton>
        <Modal.Title as="h2" id="shortcuts-title">
          Keyboard shortcuts
        </Modal.Title>
      </Modal.Header>
      <Modal.Body>
        <Shortcuts of={MODIFIED_SHORTCUTS} />
        <h3 className={styles.heading}>Outside of text fields</h3>
        <Shortcuts of={SINGLE_KEY_SHORTCUTS} />
        <div className={styles.preference}>
          <Checkbox checked={singleKeys} onChange={(checked) => dispatch(singleKeysChosen(checked))}>
            Use shortcuts without Ctrl or Cmd
          </Checkbox>
        </div>
      </Modal.Body>
    </Modal>
  )
}

function Shortcuts({ of }: { of: typeof SINGLE_KEY_SHORTCUTS }) {
  return (
    <dl className={styles.shortcuts}>
      {of.map(([keys, effect]) => (
        <div key={effect}>
          <dt>
            {keys.map((key) => (
              <kbd key={key}>{key}</kbd>
            ))}
          </dt>
          <dd>{effect}</dd>
        </div>
      ))}
    </dl>
  )
}
