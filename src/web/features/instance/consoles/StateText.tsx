import type { Instance } from '../../../../contract/instance'
import { appearanceOf, isKnownState } from '../../../instanceState'
import styles from './consoles.module.scss'

/** The state of an instance; of one that the console does not know, the word of the server. */
export function StateText({ state }: Pick<Instance, 'state'>) {
  const { name, tone } = isKnownState(state) ? appearanceOf(state) : { name: state as string, tone: 'blocked' }
  return <span className={`state ${tone} ${styles.state}`}>{name}</span>
}
