import { useEffect, useEffectEvent, useRef, useState } from 'react'
import { useDispatch } from 'react-redux'
import type { OpenedFile } from '../../../api/fileTexts'
import { useOpenFileMutation, useSaveFileMutation } from '../../../api/fileTexts'
import { holdText, takeText } from '../../../api/heldTexts'
import { notified } from '../../../facts'
import type { ApiFailure } from '../../../failure'
import { useOneAtATime } from '../../../ui/useOneAtATime'
import type { Editing } from '../filesSlice'
import { conflictDetected, draftChanged } from '../filesSlice'
import { canEncode, nameOfEncoding } from './encodings'
import type { TextEditorHandle } from './TextEditor'
import type { TextDraft } from './useTextDraft'
import { useTextDraft } from './useTextDraft'

/** `version` increases each time the text is opened or replaced, and remounts the editor. */
type File = Omit<OpenedFile, 'text'> & { text: string; unsaved?: string; version: number }

/** Opens, reloads and saves the file of the editor, and restores its draft. */
export function useEditedFile({ item, isChanged }: Editing) {
  const [open, opening] = useOpenFileMutation()
  const [save, saving] = useSaveFileMutation()
  // The text of a file never enters the store.
  const [file, setFile] = useState<File>()
  const editor = useRef<TextEditorHandle>(null)
  const dispatch = useDispatch()
  const draft = useTextDraft(item, file, opening.error !== undefined, () =>
    isChanged ? editor.current?.text() : undefined,
  )

  const isUnmounted = useRef(false)
  const showFile = (opened: Omit<File, 'version' | 'unsaved'>, keptText: TextDraft | undefined) => {
    dispatch(draftChanged(false))
    saving.reset()
    const { text: unsaved, ...madeFrom } = keptText ?? {}
    setFile((known) => ({
      ...opened,
      ...madeFrom,
      ...(unsaved !== undefined && { unsaved }),
      version: (known?.version ?? 0) + 1,
    }))
  }
  const show = ({ data }: { data?: OpenedFile }) => {
    if (!data) return
    // The component is unmounted, so the text is discarded.
    if (isUnmounted.current) return takeText(data.text)
    const interrupted = draft.restoreInterrupted()
    if (interrupted) dispatch(notified('info', `Restored your unsaved changes to ${item.name}`))
    showFile({ ...data, text: takeText(data.text) ?? '' }, interrupted)
  }
  const restore = () => {
    const taken = draft.restore()
    if (file && taken) showFile(file, taken)
  }
  const reload = async () => {
    const response = await open(item.path)
    if (response.data) draft.drop()
    show(response)
  }
  const showFirst = useEffectEvent(show)
  useEffect(() => {
    isUnmounted.current = false
    void open(item.path).then((response) => showFirst(response))
    return () => {
      isUnmounted.current = true
    }
  }, [open, item.path])

  const saveFile = useOneAtATime(async ({ overwrite }: { overwrite: boolean }) => {
    const shown = editor.current
    if (!file || !shown || saving.isLoading || opening.isLoading) return
    const { text, saved } = shown.read()
    const { encoding, modifyTime } = file
    const isKept = canEncode(text, encoding)
    const storedAs = isKept ? encoding : 'utf-8'
    const { data, error } = await save({
      path: item.path,
      text: holdText(text),
      ...(storedAs && { encoding: storedAs }),
      ...(modifyTime !== undefined && !overwrite && { modifyTime }),
    })
    if ((error as ApiFailure | undefined)?.status === 409 && !overwrite) dispatch(conflictDetected())
    if (!data) return
    // A draft that was restored in the meantime has an editor of its own.
    if (editor.current === shown) saved()
    if (!isKept) dispatch(notified('info', `Saved as UTF-8: ${nameOfEncoding(encoding)} lacks some of its characters`))
    // That draft is based on an earlier version, so saving it asks before overwriting.
    setFile((current) => {
      if (current?.version !== file.version) return current
      const { modifyTime: _, ...known } = current
      return { ...known, ...data, ...(storedAs && { encoding: storedAs }) }
    })
  })
  return { file, editor, opening, saving, draft, restore, reload, saveFile }
}
