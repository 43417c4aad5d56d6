import type { ReactNode } from 'react'
import { Link } from 'react-router-dom'
import type { Instance } from '../../../../contract/instance'
import { instanceAddress } from '../../../addresses'
import { appearanceOfAny } from '../../../instanceState'
import { Glyph } from '../../../ui/Glyph'
import { ConnectionBadge } from '../ConnectionBadge'
import { ConsoleView } from '../console/ConsoleView'
import { LogButton } from '../console/log/LogButton'
import { PaneContext } from '../console/pane'
import { useConsole } from '../console/useConsole'
import type { ShownConsole } from './useShownConsoles'
import consoleStyles from '../console/console.module.scss'
import styles from './consoles.module.scss'

const CLOSE = 'm6 6 12 12M18 6 6 18'

type ConsolePaneProps = {
  console: ShownConsole
  /** One-based position on the page. */
  number: number
  /** Whether this console is shown on a narrow screen. */
  isFront: boolean
  onClose: () => void
  /** Moves the focus to the command line. */
  onLeave: () => void
}

export function ConsolePane({ console, number, isFront, onClose, onLeave }: ConsolePaneProps) {
  const { pane, instance, problem, isTarget } = console
  const badge = (
    <span className={isTarget && instance ? `${styles.number} ${styles.target}` : styles.number} aria-hidden="true">
      {number}
    </span>
  )
  const close = (name: string) => (
    <LogButton label={`Close ${name}`} onClick={onClose}>
      <Glyph path={CLOSE} size={16} />
    </LogButton>
  )
  return (
    <div className={isFront ? `${styles.pane} ${styles.front}` : styles.pane}>
      {instance ? (
        <PaneContext value={pane}>
          <LiveConsole
            instance={instance}
            badge={badge}
            close={close(`the console of ${instance.name}`)}
            onLeave={onLeave}
          />
        </PaneContext>
      ) : (
        <section className={`${consoleStyles.console} ${consoleStyles.pane}`} aria-label={`Console ${number}`}>
          <div className={consoleStyles.head}>
            <span className={`${styles.title} ${styles.unknown}`}>
              {badge}
              {problem ? 'Not available' : 'Loading…'}
            </span>
            {close(`console ${number}`)}
          </div>
          <p className={styles.note} role={problem ? 'alert' : 'status'}>
            {problem}
          </p>
        </section>
      )}
    </div>
  )
}

type LiveConsoleProps = { instance: Instance; badge: ReactNode; close: ReactNode; onLeave: () => void }

function LiveConsole({ instance, badge, close, onLeave }: LiveConsoleProps) {
  const { deployment, name, podName, state, uid } = instance
  useConsole(deployment, podName, state)
  return (
    <ConsoleView
      isPane
      label={`Console of ${name}`}
      name={name}
      start={
        <>
          {/* Consoles are dark in both themes. */}
          <span className={styles.title} data-bs-theme="dark">
            {badge}
            <Link to={instanceAddress(deployment, uid)} state={{ instance }} title={name}>
              {name}
            </Link>
            <StateText state={state} />
          </span>
          <ConnectionBadge />
        </>
      }
      end={close}
      onLeave={onLeave}
    />
  )
}

export function StateText({ state }: Pick<Instance, 'state'>) {
  const { name, tone } = appearanceOfAny(state)
  return <span className={`state ${tone} ${styles.state}`}>{name}</span>
}
