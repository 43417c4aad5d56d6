import type { ReactNode } from 'react'
import { lazy, Suspense, useEffect, useRef } from 'react'
import { useDispatch, useSelector } from 'react-redux'
import { useSaveDeploymentConfigMutation } from '../../api/deployments'
import type { ApiFailure } from '../../api/failure'
import { failureText } from '../../api/failure'
import { Banner } from './Banner'
import { ChangesDialog } from './ChangesDialog'
import { ConfigurationHead } from './ConfigurationHead'
import { ConfigurationStatus } from './ConfigurationStatus'
import {
  changesOpened,
  dialogClosed,
  draftDropped,
  draftSaved,
  draftTyped,
  selectDialog,
  selectDraft,
} from './configurationSlice'
import { EditorSkeleton } from './EditorSkeleton'
import { FailureBanner } from './FailureBanner'
import { LeaveDialog } from './LeaveDialog'
import { useLeaveGuard } from './useLeaveGuard'
import { useProblem } from './useProblem'
import { useSaveKey } from './useSaveKey'
import type { YamlEditorHandle } from './YamlEditor'

// The page shows, and fetches the text, while the editor itself is still on its way.
const YamlEditor = lazy(async () => ({
  default: (await import(/* webpackChunkName: 'yaml-editor' */ './YamlEditor')).YamlEditor,
}))

const FAILED = 'Failed to save deployment configuration content'

/** `failure` is of a later attempt to fetch the stored text. */
export function ConfigurationForm({ name, stored, failure }: { name: string; stored: string; failure: ReactNode }) {
  const draft = useSelector((state: Parameters<typeof selectDraft>[0]) => selectDraft(state, name))
  const dialog = useSelector(selectDialog)
  const [save, saving] = useSaveDeploymentConfigMutation()
  const editor = useRef<YamlEditorHandle>(null)
  const dispatch = useDispatch()

  const text = draft ?? stored
  const changed = text !== stored
  const hint = useProblem(text)
  // What the server said holds for the text that it was sent, and for no other.
  const refusal = saving.originalArgs?.content === text ? (saving.error as ApiFailure | undefined) : undefined
  const problem = refusal?.line
    ? { severity: 'error' as const, line: refusal.line, message: failureText(refusal, FAILED) }
    : hint && { severity: 'warning' as const, ...hint }

  const onChange = (typed: string) => {
    if (saving.isSuccess) saving.reset()
    dispatch(typed === stored ? draftDropped(name) : draftTyped({ name, text: typed }))
  }
  const onSave = async () => {
    if (saving.isLoading) return
    const { error } = await save({ name, content: text })
    const line = (error as ApiFailure | undefined)?.line
    if (!error) dispatch(draftSaved({ name, text }))
    else if (line) editor.current?.goTo(line)
  }

  useLeaveGuard(changed)
  useSaveKey(onSave)
  useEffect(() => () => void dispatch(dialogClosed()), [dispatch])

  return (
    <>
      <ConfigurationHead name={name} saving={saving.isLoading} onShowChanges={() => dispatch(changesOpened())} onSave={onSave} />
      {failure}
      {saving.error && <FailureBanner title={FAILED} error={saving.error} onDismiss={saving.reset} />}
      {saving.isSuccess && (
        <Banner tone="success" onDismiss={saving.reset}>
          Changes saved successfully!
        </Banner>
      )}
      <Suspense fallback={<EditorSkeleton />}>
        <section className="configuration-panel panel" aria-label="Configuration">
          <YamlEditor ref={editor} label={`Configuration of ${name}`} value={text} problem={problem} onChange={onChange} />
          <ConfigurationStatus problem={problem} changed={changed} onGoTo={(line) => editor.current?.goTo(line)} />
        </section>
      </Suspense>
      {dialog === 'changes' && <ChangesDialog name={name} stored={stored} text={text} />}
      {dialog && dialog !== 'changes' && <LeaveDialog name={name} leaving={dialog} />}
    </>
  )
}
