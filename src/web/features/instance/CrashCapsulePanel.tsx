import Button from 'react-bootstrap/Button'
import { failureHint, failureText } from '../../api/failure'
import { useLazyGetCrashCapsuleQuery } from '../../api/instances'
import { ToolIcon } from './ToolIcon'
import { styleText } from './ansi'
import { saveAs } from './logText'

type CrashCapsulePanelProps = { deployment: string; uid: string; name: string; crashedAt: number }

/** What was kept of the last crash. Loaded when it is asked for. */
export function CrashCapsulePanel({ deployment, uid, name, crashedAt }: CrashCapsulePanelProps) {
  const [load, { currentData: capsule, error, isFetching }] = useLazyGetCrashCapsuleQuery()
  const open = () => !isFetching && load({ deployment, uid, crashedAt }, true)
  const save = () => saveAs(`${name}-crash.json`, JSON.stringify(capsule, null, 2), 'application/json')
  return (
    <section className="panel details-panel" aria-labelledby="crash-title">
      <div className="details-head">
        <h2 id="crash-title">Crash capsule</h2>
        {capsule ? (
          <Button variant="outline-secondary" className="power-button" onClick={save}>
            <ToolIcon name="save" />
            Download
          </Button>
        ) : (
          <Button variant="outline-secondary" aria-disabled={isFetching} aria-busy={isFetching} onClick={open}>
            Show
          </Button>
        )}
      </div>
      <p className="form-text">
        It ended by itself at {new Date(crashedAt).toLocaleString()}. Its last lines and the metrics before it were kept.
      </p>
      {error && (
        <p className="alert alert-danger" role="alert">
          {failureText(error, failureHint(error) ?? 'The crash capsule could not be loaded')}
        </p>
      )}
      {capsule && (
        <>
          <p>{capsule.exit.reason}</p>
          {/* eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- what scrolls has to be reachable by keyboard */}
          <pre className="crash-lines" tabIndex={0} aria-label={`The last ${capsule.lines.length} lines`}>
            {capsule.lines.map(({ content }) => `${styleText(content).text}\n`)}
          </pre>
        </>
      )}
    </section>
  )
}
