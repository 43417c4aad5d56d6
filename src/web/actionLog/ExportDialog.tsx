import { useMemo, useState } from 'react'
import { useAppStore } from '../app/hooks'
import { accountDialogClosed } from '../features/account/accountSlice'
import { Checkbox } from '../ui/form/Checkbox'
import { FormDialog } from '../ui/dialog/FormDialog'
import { counted } from '../ui/counted'
import { formatBytes } from '../ui/formatBytes'
import { logFileOf, saveLogFile } from './export/exportLog'
import { untilExportOpened } from './export/exportOpened'
import { contentsOf, search } from './export/logContents'
import styles from './exportDialog.module.scss'

/** Shows the contents of the file before it is saved. */
export function ExportDialog() {
  const store = useAppStore()
  const [withOutput, setWithOutput] = useState(false)
  // Kept out of the store, and so out of the log, because the user may search for a secret.
  const [query, setQuery] = useState('')
  const file = useMemo(() => logFileOf(store, withOutput, untilExportOpened), [store, withOutput])
  const contents = useMemo(() => contentsOf(file.log), [file])
  const found = useMemo(() => (query === '' ? undefined : search(contents, query)), [contents, query])
  const close = () => store.dispatch(accountDialogClosed())

  return (
    <FormDialog
      title="Export action log"
      action="Save"
      busyText="Saving..."
      busy={false}
      onSubmit={() => {
        saveLogFile(file)
        close()
      }}
      onClose={close}
    >
      <p>
        {counted(file.log.actions.length, 'action')}, {formatBytes(new Blob([file.text]).size)}. Passwords, codes,
        credentials and the contents of files are left out. Names and responses of the server are in it, and a secret in
        them is hidden only if it was typed or shown since this page was loaded. Search the file for confidential text
        before you share it.
      </p>
      <div>
        <Checkbox checked={withOutput} onChange={setWithOutput}>
          With console output
        </Checkbox>
        {withOutput && (
          <p className={`form-text ${styles.hint}`}>
            Secrets that you typed since this page was loaded are hidden in the output. Search it yourself for older
            secrets, and for secrets that a program has encoded, encrypted or shortened.
          </p>
        )}
      </div>
      <input
        type="search"
        className="form-control"
        aria-label="Search the file"
        placeholder="Search the file"
        autoComplete="off"
        spellCheck={false}
        value={query}
        onChange={({ target }) => setQuery(target.value)}
        // Enter must not save the file.
        onKeyDown={(event) => event.key === 'Enter' && event.preventDefault()}
      />
      <p className={styles.found} role="status">
        {found &&
          (found.length === 0
            ? 'Not in the file.'
            : `Found in ${counted(
                found.reduce((count, { texts }) => count + texts.length, 0),
                'place',
              )}.`)}
      </p>
      {/* eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- keyboard users must be able to scroll */}
      <div className={styles.contents} tabIndex={0} role="group" aria-label="Contents of the file">
        <table>
          <thead>
            <tr>
              <th scope="col">Kind</th>
              <th scope="col">Count</th>
            </tr>
          </thead>
          <tbody>
            {(found ?? contents).map(({ name, texts, excerpts }) => (
              <tr key={name}>
                <td>
                  {name}
                  {excerpts.map((excerpt, at) => (
                    <code key={at}>{excerpt}</code>
                  ))}
                </td>
                <td>{texts.length}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </FormDialog>
  )
}
