import { Link } from 'react-router-dom'
import { Notice } from '../../ui/Notice'
import { addressOfPath, nameOf, parentOf, ROOT } from './sharedPath'

export function DirectoryMissing({ path }: { path: string }) {
  const parent = parentOf(path)
  return (
    <Notice
      title="Directory not found"
      icon="compass"
      actions={
        <>
          {parent !== ROOT && (
            <Link to={addressOfPath(parent)} className="btn btn-outline-secondary">
              Up to {nameOf(parent)}
            </Link>
          )}
          <Link to={addressOfPath(ROOT)} className="btn btn-primary">
            Back to Root
          </Link>
        </>
      }
    >
      <p>There is no directory {path}. It may have been moved, renamed or deleted.</p>
    </Notice>
  )
}
