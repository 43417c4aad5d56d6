import { useEffect, useLayoutEffect, useMemo, useReducer, useState, useSyncExternalStore } from 'react'
import { applyTheme } from '../app/page'
import { basePath } from '../basePath'
import { setClock } from '../ui/time/clock'
import { ErrorBoundary } from '../ui/ErrorBoundary'
import { build } from './build'
import { exportOpenedAt, untilExportOpened } from './export/exportOpened'
import { exportAs } from './record/record'
import { findingsOf } from './replay/findings'
import { blockInput } from './replay/followReplay'
import { beginning, playbackReducer } from './replay/playback'
import type { PlayedLog } from './ReplayFile'
import { ReplayActions } from './ReplayActions'
import { ReplayBar } from './ReplayBar'
import { ReplayStage } from './ReplayStage'
import { createReplayStore } from './replay/replayStore'
import styles from './replay.module.scss'

export function ReplayPlayer({ log, replay, onClose }: PlayedLog & { onClose: () => void }) {
  const findings = useMemo(() => findingsOf(log, replay, build), [log, replay])
  const stage = useMemo(() => {
    const created = createReplayStore(replay.base)
    exportAs(created.store, () => ({ ...log, actions: untilExportOpened(log.actions, created.shown().index) }))
    return created
  }, [log, replay])
  const [playback, dispatch] = useReducer(
    useMemo(() => playbackReducer(log), [log]),
    beginning,
  )
  const [isListOpen, setIsListOpen] = useState(false)
  const { index, isPlaying, at } = playback
  const shown = useSyncExternalStore(
    (onChange) => stage.store.subscribe(onChange),
    () => stage.shown(),
  )

  useLayoutEffect(() => {
    setClock(() => log.startedAt + at)
    stage.show(replay.steps[index]?.state ?? replay.base, index)
  }, [log, replay, stage, index, at])

  useEffect(blockInput, [])
  useEffect(() => applyTheme(stage.store), [stage])
  useEffect(() => {
    if (!isPlaying) return
    let frame = 0
    let before = performance.now()
    const tick = (now: number) => {
      dispatch({ type: 'elapsed', elapsed: Math.max(0, now - before) })
      before = now
      frame = requestAnimationFrame(tick)
    }
    frame = requestAnimationFrame(tick)
    return () => cancelAnimationFrame(frame)
  }, [isPlaying])

  return (
    <div className={isListOpen ? `${styles.replay} ${styles.withList}` : styles.replay}>
      <div className={styles.stage}>
        <ErrorBoundary
          resetKey={String(shown.index)}
          fallback={() => <p className={styles.broken}>The console cannot show this state.</p>}
        >
          {/* Each opening of the export dialog remounts the pages: the dialog shows the log at its opening. */}
          <ReplayStage key={exportOpenedAt(log.actions, shown.index)} store={stage.store} rewinds={shown.rewinds} />
        </ErrorBoundary>
      </div>
      <div className={styles.controls}>
        {isListOpen && (
          <ReplayActions
            log={log}
            replay={replay}
            index={index}
            onJump={(to) => dispatch({ type: 'jumped', index: to })}
          />
        )}
        <ReplayBar
          log={log}
          playback={playback}
          findings={findings}
          isListOpen={isListOpen}
          onEvent={dispatch}
          onToggleList={() => setIsListOpen(!isListOpen)}
          onClose={onClose}
          onLeave={() => window.location.assign(`${basePath()}/`)}
        />
      </div>
    </div>
  )
}
