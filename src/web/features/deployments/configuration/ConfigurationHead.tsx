import Button from 'react-bootstrap/Button'
import { Link } from 'react-router-dom'
import { ActionIcon } from '../../../ui/ActionIcon'
import { Icon } from '../../../ui/Icon'

type ConfigurationHeadProps = { name: string; saving?: boolean; onShowChanges?: () => unknown; onSave?: () => unknown }

/** The buttons are rendered, but disabled, while there is no text yet, so that the layout does not move. */
export function ConfigurationHead({ name, saving = false, onShowChanges, onSave }: ConfigurationHeadProps) {
  return (
    <div className="configuration-head">
      <Link to="/deployments" className="btn btn-outline-secondary configuration-back">
        <Icon name="chevron" />
        Back
      </Link>
      <div className="configuration-title">
        <h1>{name}</h1>
        <p>Editing configuration file</p>
      </div>
      <div className="configuration-actions">
        <Button variant="outline-secondary" disabled={!onShowChanges} onClick={onShowChanges}>
          <ActionIcon name="changes" />
          Show changes
        </Button>
        <Button
          className="configuration-save"
          disabled={!onSave}
          aria-disabled={saving}
          aria-busy={saving}
          onClick={onSave}
        >
          {saving && <span className="spinner-border spinner-border-sm" aria-hidden="true" />}
          Save Changes
        </Button>
      </div>
    </div>
  )
}
