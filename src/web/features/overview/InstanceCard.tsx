import { Link } from 'react-router-dom'
import type { Instance } from '../../../contract/instance'
import { appearanceOf, playerCountOf } from '../../instanceState'
import { counted } from '../../ui/counted'
import { Icon } from '../../ui/Icon'

export function InstanceCard({ deployment, instance }: { deployment: string; instance: Instance }) {
  const { uid, name, description, state } = instance
  const count = playerCountOf(instance)
  const { name: stateName, tone } = appearanceOf(state)
  const [id] = name.split('-')
  return (
    <Link
      to={`/instance/${encodeURIComponent(deployment)}/${encodeURIComponent(uid)}`}
      state={{ instance }}
      className={`instance panel ${tone}`}
    >
      <span className="instance-head">
        <span className="instance-name">{name}</span>
        {count !== undefined && (
          <span className="players" title={count === null ? 'The number of players is unknown: the server does not answer' : counted(count, 'player')}>
            <Icon name="players" size={14} />
            {count ?? '?'}
            <span className="visually-hidden"> {count === 1 ? 'player' : 'players'}</span>
          </span>
        )}
      </span>
      {description && <span className="instance-description">{description}</span>}
      <span className="instance-foot">
        <span className={`state ${tone}`}>{stateName}</span>
        <span className="instance-id">ID: {id}</span>
      </span>
    </Link>
  )
}
