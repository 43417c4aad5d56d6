import type { Instance } from '../../../../contract/instance'
import { appearanceOf, isKnownState } from '../../../instanceState'
import styles from './consoles.module.scss'

/** The name of an instance's state, or the server's word for a state that the console does not know. */
export function StateText({ state }: Pick<Instance, 'state'>) {
  const { name, tone } = isKnownState(state) ? appearanceOf(state) : { name: state as string, tone: 'blocked' }
  return <span className={`state ${tone} ${styles.state}`}>{name}</span>
}
