import { Icon } from '../../../ui/Icon'
import type { Problem } from './YamlEditor'
import styles from './configuration.module.scss'

/** Id of the sentence that explains how to leave the editor, which captures Tab. */
export const LEAVE_HINT = 'configuration-leave-hint'

type ConfigurationStatusProps = {
  problems: Problem[] | undefined
  changed: boolean
  onGoTo: (line: number) => void
}

/** Always rendered below the text: its first problem, if any, and whether it is saved. */
export function ConfigurationStatus({ problems, changed, onGoTo }: ConfigurationStatusProps) {
  const [problem, ...others] = problems ?? []
  const line = problem?.line
  return (
    <div className={styles.status}>
      <p role="status" className={problem ? `${styles.problem} ${styles[problem.severity]}` : styles.problem}>
        {problems && <Icon name={problem ? 'alert' : 'check'} size={16} />}
        {problem?.message ?? (problems && 'No problems found')}
        {others.length > 0 && ` (and ${others.length} more)`}
      </p>
      {line !== undefined && (
        <button type="button" className="text-button" onClick={() => onGoTo(line)}>
          Go to line {line}
        </button>
      )}
      <span id={LEAVE_HINT} className={styles.leaveHint}>
        Esc, then Tab leaves the editor
      </span>
      <span className={changed ? styles.unsaved : undefined}>{changed ? 'Unsaved changes' : 'Saved'}</span>
    </div>
  )
}
