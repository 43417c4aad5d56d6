import { Icon } from '../../../ui/Icon'
import type { Problem } from './YamlEditor'

type ConfigurationStatusProps = {
  problem: Problem | null | undefined
  changed: boolean
  onGoTo: (line: number) => void
}

/** Always rendered below the text: its problem, if any, and whether it is saved. */
export function ConfigurationStatus({ problem, changed, onGoTo }: ConfigurationStatusProps) {
  const line = problem?.line
  return (
    <div className="configuration-status">
      <p role="status" className={problem ? `configuration-problem ${problem.severity}` : 'configuration-problem'}>
        {problem !== undefined && <Icon name={problem ? 'alert' : 'check'} size={16} />}
        {problem === null ? 'No problems found' : problem?.message}
      </p>
      {line !== undefined && (
        <button type="button" className="text-button" onClick={() => onGoTo(line)}>
          Go to line {line}
        </button>
      )}
      <span className={changed ? 'unsaved' : undefined}>{changed ? 'Unsaved changes' : 'Saved'}</span>
    </div>
  )
}
