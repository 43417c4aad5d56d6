import Button from 'react-bootstrap/Button'
import { Link } from 'react-router-dom'
import { ActionIcon } from '../../../ui/ActionIcon'
import { BackLink } from '../../../ui/pageHead/BackLink'
import styles from './configuration.module.scss'

type ConfigurationHeadProps = { name: string; saving?: boolean; onShowChanges?: () => unknown; onSave?: () => unknown }

/** The buttons are rendered, but disabled, while there is no text yet, so that the layout does not move. */
export function ConfigurationHead({ name, saving = false, onShowChanges, onSave }: ConfigurationHeadProps) {
  return (
    <div className={styles.head}>
      <div className={styles.way}>
        <BackLink to="/deployments">Back</BackLink>
        <nav aria-label="Breadcrumb">
          <ol>
            <li>
              <Link to="/deployments">Deployments</Link>
            </li>
            <li>{name}</li>
            <li aria-current="page">Configuration</li>
          </ol>
        </nav>
      </div>
      <div className={styles.title}>
        <h1>{name}</h1>
        <p>Editing configuration file</p>
      </div>
      <div className={styles.actions}>
        <Button
          variant="outline-secondary"
          disabled={!onShowChanges}
          title={onShowChanges ? undefined : NOT_LOADED}
          onClick={onShowChanges}
        >
          <ActionIcon name="changes" />
          Show changes
        </Button>
        <Button
          className={styles.save}
          disabled={!onSave}
          aria-disabled={saving}
          aria-busy={saving}
          title={onSave ? undefined : NOT_LOADED}
          onClick={onSave}
        >
          {saving && <span className="spinner-border spinner-border-sm" aria-hidden="true" />}
          Save Changes
        </Button>
      </div>
    </div>
  )
}

const NOT_LOADED = 'The configuration is not loaded'
