import { useLayoutEffect, useRef } from 'react'
import Button from 'react-bootstrap/Button'
import { useDispatch, useSelector } from 'react-redux'
import { failureText } from '../../failure'
import { useGetCrashCapsuleQuery } from '../../api/instances'
import { saveText } from '../../api/saveAs'
import { ToolIcon } from './console/log/ToolIcon'
import { styleText } from './console/log/ansi'
import { crashCapsuleRequested, selectShownCapsule } from './instanceSlice'
import styles from './details.module.scss'
import { counted } from '../../ui/counted'
import { FailureAlert } from '../../ui/FailureAlert'
import { TimeAgo } from '../../ui/time/TimeAgo'

type CrashCapsulePanelProps = { deployment: string; uid: string; name: string; crashedAt: number }

/** Shows the stored lines and metrics of the last crash. Loaded on demand. */
export function CrashCapsulePanel({ deployment, uid, name, crashedAt }: CrashCapsulePanelProps) {
  const isAsked = useSelector(selectShownCapsule) === crashedAt
  const {
    currentData: capsule,
    error,
    isFetching,
    refetch,
  } = useGetCrashCapsuleQuery({ deployment, uid, crashedAt }, { skip: !isAsked })
  const dispatch = useDispatch()
  const lines = useRef<HTMLPreElement>(null)
  const isAwaited = useRef(false)
  useLayoutEffect(() => {
    if (!capsule || !lines.current) return
    // The cause of a crash is usually in the last lines.
    lines.current.scrollTop = lines.current.scrollHeight
    if (isAwaited.current) lines.current.scrollIntoView({ block: 'nearest' })
    isAwaited.current = false
  }, [capsule])

  const open = () => {
    isAwaited.current = true
    if (!isAsked) dispatch(crashCapsuleRequested(crashedAt))
    else if (!isFetching) void refetch()
  }
  const save = () => saveText(`${name}-crash.json`, JSON.stringify(capsule, null, 2), 'application/json')
  return (
    <section className={`panel ${styles.section}`} aria-labelledby="crash-title">
      <div className={styles.head}>
        <h2 id="crash-title">Crash details</h2>
        {capsule ? (
          <Button variant="outline-secondary" className="with-icon" onClick={save}>
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
        The instance ended by itself <TimeAgo time={crashedAt} />. Its last console lines and its metrics before the
        crash were kept.
      </p>
      <FailureAlert error={error} text={failureText(error, 'The crash details could not be loaded')} />
      {capsule && (
        <>
          <p>{capsule.exit.reason}</p>
          <pre
            ref={lines}
            className={styles.crashLines}
            // eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- the keyboard must reach a scrollable element
            tabIndex={0}
            aria-label={`The last ${counted(capsule.lines.length, 'line')}`}
          >
            {capsule.lines.map(({ content }) => `${styleText(content).text}\n`)}
          </pre>
        </>
      )}
    </section>
  )
}
