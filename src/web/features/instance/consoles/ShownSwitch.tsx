import { useDispatch, useSelector } from 'react-redux'
import { frontChosen, selectFront } from './consolesSlice'
import type { ShownConsole } from './useShownConsoles'
import styles from './consoles.module.scss'

/** Chooses the console that is shown on a narrow screen, which fits only one. */
export function ShownSwitch({ consoles }: { consoles: ShownConsole[] }) {
  const front = useSelector(selectFront)
  const dispatch = useDispatch()
  return (
    <div className={styles.shownSwitch} role="group" aria-label="Shown console">
      {consoles.map(({ pane, instance }, index) => (
        <button
          key={pane}
          type="button"
          aria-pressed={pane === front}
          aria-label={instance?.name ?? `Console ${index + 1}`}
          onClick={() => dispatch(frontChosen(pane))}
        >
          <span>{index + 1}</span> {instance?.deployment}
        </button>
      ))}
    </div>
  )
}
