import Button from 'react-bootstrap/Button'
import { Link } from 'react-router-dom'
import { ActionIcon } from '../../../ui/ActionIcon'
import { Icon } from '../../../ui/Icon'
import styles from './configuration.module.scss'

type ConfigurationHeadProps = { name: string; saving?: boolean; onShowChanges?: () => unknown; onSave?: () => unknown }

/** The buttons are rendered, but disabled, while there is no text yet, so that the layout does not move. */
export function ConfigurationHead({ name, saving = false, onShowChanges, onSave }: ConfigurationHeadProps) {
  return (
    <div className={styles.head}>
      <Link to="/deployments" className={`btn btn-outline-secondary ${styles.back}`}>
        <Icon name="chevron" />
        Back
      </Link>
      <div className={styles.title}>
        <h1>{name}</h1>
        <p>Editing configuration file</p>
      </div>
      <div className={styles.actions}>
        <Button variant="outline-secondary" disabled={!onShowChanges} onClick={onShowChanges}>
          <ActionIcon name="changes" />
          Show changes
        </Button>
        <Button className={styles.save} disabled={!onSave} aria-disabled={saving} aria-busy={saving} onClick={onSave}>
          {saving && <span className="spinner-border spinner-border-sm" aria-hidden="true" />}
          Save Changes
        </Button>
      </div>
    </div>
  )
}
