import type { ChangeEvent, DragEvent } from 'react'
import { useState } from 'react'
import type { ActionLog } from '../../contract/actionLog'
import '../app/routing/routes'
import { basePath } from '../basePath'
import { loadEarly } from '../chunks'
import { AuthPage } from '../features/auth/AuthPage'
import type { Replay } from './replay/checkLog'
import { replayLog } from './replay/checkLog'
import { checkSize, LogFault, readLog } from './replay/readLog'
import { replayReducer } from './replay/replayReducer'
import styles from './replay.module.scss'

export type PlayedLog = { log: ActionLog; replay: Replay }

/** Lets the user choose a file, loads the code of all pages, and replays the log. */
export function ReplayFile({ onRead }: { onRead: (played: PlayedLog) => void }) {
  const [fault, setFault] = useState<string | null>(null)
  const [isOver, setIsOver] = useState(false)

  const read = async (file: File | undefined) => {
    if (!file) return
    setFault(null)
    try {
      checkSize(file.size)
      // `File.text` reads UTF-16 as well in some browsers, which the command line refuses.
      const log = readLog(new TextDecoder().decode(await file.arrayBuffer()))
      await loadEarly()
      onRead({ log, replay: replayLog(log, replayReducer) })
    } catch (error) {
      setFault(
        error instanceof LogFault
          ? error.message
          : 'The pages of the console could not be loaded. Check that its server is running.',
      )
    }
  }
  const onChange = ({ target }: ChangeEvent<HTMLInputElement>) => {
    void read(target.files?.[0])
    // Without this, choosing the same file again would not fire a change event.
    target.value = ''
  }
  const onDrop = (event: DragEvent) => {
    event.preventDefault()
    setIsOver(false)
    void read(event.dataTransfer.files[0])
  }

  return (
    <AuthPage
      title="Replay action log"
      className={isOver ? `${styles.drop} ${styles.over}` : styles.drop}
      onDragOver={(event) => {
        event.preventDefault()
        setIsOver(true)
      }}
      onDragLeave={() => setIsOver(false)}
      onDrop={onDrop}
    >
      <p className="auth-lead">
        Choose a file that &lsquo;Export action log&rsquo; saved, or drop it here. It is played in this page and goes
        nowhere else.
      </p>
      {fault && (
        <p className="alert alert-danger" role="alert">
          {fault}
        </p>
      )}
      <label className={`btn btn-primary ${styles.choose}`}>
        Choose file
        <input type="file" accept="application/json,.json" className="visually-hidden" onChange={onChange} />
      </label>
      <div className="auth-links">
        <a href={`${basePath()}/`}>Back to the console</a>
      </div>
    </AuthPage>
  )
}
