import type { ReactNode } from 'react'
import { Suspense, useEffect, useRef, useState } from 'react'
import { useDispatch, useSelector } from 'react-redux'
import type { Configuration } from '../../../../contract/deployment'
import type { StoredConfiguration } from '../../../api/deployments'
import { useSaveDeploymentConfigMutation } from '../../../api/deployments'
import { useAppSelector, useAppStore } from '../../../app/hooks'
import type { ApiFailure } from '../../../failure'
import { failureText } from '../../../failure'
import { lazyOnDemand } from '../../../chunks'
import { useOneAtATime } from '../../../ui/useOneAtATime'
import { useLeaveGuard } from '../../../ui/leave/useLeaveGuard'
import { useSaveKey } from '../../../ui/useSaveKey'
import { AppliesLater } from './AppliesLater'
import { Banner } from './Banner'
import { ChangesDialog } from './ChangesDialog'
import { ConfigurationHead } from './ConfigurationHead'
import { ConfigurationStatus, LEAVE_HINT } from './ConfigurationStatus'
import {
  changesOpened,
  conflictDetected,
  dialogClosed,
  draftSaved,
  draftTyped,
  leaveRequested,
  selectDialog,
  selectDraft,
} from './configurationSlice'
import { ConfigurationConflictDialog } from './ConfigurationConflictDialog'
import { EditorSkeleton } from './EditorSkeleton'
import { FailureBanner } from './FailureBanner'
import { LeaveDialog } from './LeaveDialog'
import { useConfigurationDraft } from './useConfigurationDraft'
import { useProblems } from './useProblems'
import type { Problem, YamlEditorHandle } from './YamlEditor'
import styles from './configuration.module.scss'

// The page renders and fetches the text while the chunk of the editor loads.
const YamlEditor = lazyOnDemand(
  async () => (await import(/* webpackChunkName: 'yaml-editor' */ './YamlEditor')).YamlEditor,
)

const FAILED = 'Failed to save deployment configuration content'

type ConfigurationFormProps = {
  name: string
  stored: StoredConfiguration
  /** Shows that a later fetch of the stored text failed. */
  failure: ReactNode
  onReload: () => PromiseLike<{ error?: unknown }>
}

export function ConfigurationForm({ name, stored, failure, onReload }: ConfigurationFormProps) {
  const draft = useAppSelector((state) => selectDraft(state, name))
  const dialog = useSelector(selectDialog)
  const [save, saving] = useSaveDeploymentConfigMutation()
  const editor = useRef<YamlEditorHandle>(null)
  const isUnmounted = useRef(false)
  const dispatch = useDispatch()
  const store = useAppStore()

  const { text, revision } = draft ?? { text: stored.content, revision: stored.revision }
  const changed = text !== stored.content
  const storedDraft = useConfigurationDraft(name, stored, draft)
  /** The text whose warnings were dismissed. */
  const [dismissed, setDismissed] = useState<string>()
  const warnings = saving.data?.warnings ?? (changed || dismissed === text ? [] : (stored.warnings ?? []))
  const found = useProblems(name, stored.content, text)
  // The server's response applies only to the text that was sent.
  const refusal = saving.originalArgs?.content === text ? (saving.error as ApiFailure | undefined) : undefined
  const hints = found?.map((hint): Problem => ({ severity: 'warning', ...hint }))
  // The server reports the first one only.
  const problems: Problem[] | undefined = refusal?.line
    ? [{ severity: 'error', line: refusal.line, message: failureText(refusal, FAILED) }, ...(hints?.slice(1) ?? [])]
    : hints

  const onChange = (typed: string) => {
    // The result of the last save was about another text.
    if (!saving.isLoading) saving.reset()
    const basedOn = stored.revision === undefined ? {} : { revision: stored.revision }
    // A save in flight is about to replace the stored text.
    if (typed === stored.content && !saving.isLoading) return storedDraft.drop()
    dispatch(draftTyped({ name, text: typed, ...basedOn }))
    storedDraft.changed()
  }
  const saveText = useOneAtATime(async (made: Pick<Configuration, 'revision'>) => {
    if (saving.isLoading) return
    const { data, error } = await save({ name, content: text, ...made })
    const { line, status, field } = (error as ApiFailure | undefined) ?? {}
    if (data) {
      dispatch(draftSaved({ name, text, ...data.made }))
      // The rest of the draft was typed during the save. It is now based on the text that was just stored.
      storedDraft.changed()
    } else if (selectDraft(store.getState(), name)?.text === stored.content) storedDraft.drop()
    // The component is unmounted, and another editor may be open.
    else if (isUnmounted.current) return
    else if (status === 409 && field === 'revision') dispatch(conflictDetected())
    else if (line) editor.current?.goTo(line)
  })
  const onSave = () => dialog !== 'conflict' && saveText(revision === undefined ? {} : { revision })
  const dismissWarnings = () => {
    saving.reset()
    setDismissed(text)
  }
  const reload = async () => {
    const { error } = await onReload()
    // A failed fetch must not drop the user's changes.
    if (error) return
    saving.reset()
    storedDraft.drop()
  }

  useLeaveGuard(changed, (leaving) => dispatch(leaveRequested(leaving)))
  useSaveKey(onSave)
  useEffect(() => {
    isUnmounted.current = false
    return () => {
      isUnmounted.current = true
      dispatch(dialogClosed())
    }
  }, [dispatch])

  return (
    <>
      <ConfigurationHead
        name={name}
        saving={saving.isLoading}
        onShowChanges={() => dispatch(changesOpened())}
        onSave={onSave}
      />
      {failure}
      {storedDraft.offered}
      <SaveResult name={name} saving={saving} warnings={warnings} onDismissWarnings={dismissWarnings} />
      <Suspense fallback={<EditorSkeleton />}>
        <section className={`${styles.editorPanel} panel`} aria-label="Configuration">
          <YamlEditor
            ref={editor}
            label={`Configuration of ${name}`}
            describedBy={LEAVE_HINT}
            value={text}
            problems={problems}
            onChange={onChange}
          />
          <ConfigurationStatus problems={problems} changed={changed} onGoTo={(line) => editor.current?.goTo(line)} />
        </section>
      </Suspense>
      {dialog === 'changes' && <ChangesDialog name={name} stored={stored.content} text={text} />}
      {dialog === 'conflict' && (
        <ConfigurationConflictDialog name={name} onReload={reload} onOverwrite={() => saveText({})} />
      )}
      {typeof dialog === 'object' && dialog && (
        <LeaveDialog name={name} leaving={dialog} onDiscard={storedDraft.drop} />
      )}
    </>
  )
}

type SaveResultProps = {
  name: string
  saving: { error?: unknown; isSuccess: boolean; reset: () => void }
  warnings: string[]
  onDismissWarnings: () => void
}

function SaveResult({ name, saving, warnings, onDismissWarnings }: SaveResultProps) {
  return (
    <>
      {Boolean(saving.error) && <FailureBanner title={FAILED} error={saving.error} onDismiss={saving.reset} />}
      {saving.isSuccess && (
        <Banner tone="success" onDismiss={saving.reset}>
          Changes saved successfully!
        </Banner>
      )}
      {saving.isSuccess && <AppliesLater name={name} />}
      {warnings.length > 0 && (
        <Banner tone="warning" onDismiss={onDismissWarnings}>
          {warnings.map((warning) => (
            <p key={warning}>{warning}</p>
          ))}
        </Banner>
      )}
    </>
  )
}
