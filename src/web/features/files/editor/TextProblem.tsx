import type { Ace } from 'ace-builds'
import { Icon } from '../../../ui/Icon'
import styles from './editor.module.scss'

type TextProblemProps = {
  found: Ace.Annotation[]
  /** `line` is one-based. */
  onGoTo: (line: number) => void
}

/** The first problem of the text, errors first. Always rendered, so that screen readers announce it. */
export function TextProblem({ found, onGoTo }: TextProblemProps) {
  const errors = found.filter(({ type }) => type === 'error')
  const problems = [...errors, ...found.filter(({ type }) => type === 'warning')]
  const [problem] = problems
  const line = (problem?.row ?? 0) + 1
  return (
    <div className={styles.problem}>
      <p role="status">
        {problem && <Icon name="alert" size={16} />}
        {/* The other lines quote the text. */}
        {problem?.text.split('\n', 1)}
        {problems.length > 1 && ` (and ${problems.length - 1} more)`}
      </p>
      {problem && (
        <button type="button" className="text-button" onClick={() => onGoTo(line)}>
          Go to line {line}
        </button>
      )}
    </div>
  )
}
