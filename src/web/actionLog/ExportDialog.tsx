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
  // Not in the store, because the user may search for a secret.
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
        credentials and what files hold are not in it, but names are, and what the server answered. Look for what must
        not be there before you give it away.
      </p>
      <div>
        <Checkbox checked={withOutput} onChange={setWithOutput}>
          With console output
        </Checkbox>
        {withOutput && (
          <p className={`form-text ${styles.hint}`}>
            What you typed as a secret since this page was loaded is hidden in the output. Look for older ones yourself,
            and for what a program has encoded, encrypted or shortened.
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
      {/* eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- what scrolls has to be reachable by keyboard */}
      <div className={styles.contents} tabIndex={0} role="group" aria-label="What is in the file">
        <table>
          <thead>
            <tr>
              <th scope="col">What</th>
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
