import { Link } from 'react-router-dom'
import { Notice } from '../../ui/Notice'
import { SHARED_ROOT } from '../../../contract/pageRules'
import { addressOfPath, baseName, parentPath } from './sharedPath'

export function DirectoryMissing({ path }: { path: string }) {
  const parent = parentPath(path)
  return (
    <Notice
      title="Directory Not Found"
      icon="compass"
      actions={
        <>
          {parent !== SHARED_ROOT && (
            <Link to={addressOfPath(parent)} className="btn btn-outline-secondary">
              Up to {baseName(parent)}
            </Link>
          )}
          <Link to={addressOfPath(SHARED_ROOT)} className="btn btn-primary">
            Back to Root
          </Link>
        </>
      }
    >
      <p>There is no directory {path}. It may have been moved, renamed or deleted.</p>
    </Notice>
  )
}
