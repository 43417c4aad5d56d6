import { useRef } from 'react'
import Button from 'react-bootstrap/Button'
import { Glyph } from '../../../ui/Glyph'
import { useUpload } from './useUpload'

const UP = 'M12 20V7m-5 5 5-5 5 5M4.5 4h15'

type UploadButtonProps = { directory: string; disabledBecause: string | undefined }

export function UploadButton({ directory, disabledBecause }: UploadButtonProps) {
  const input = useRef<HTMLInputElement>(null)
  const upload = useUpload(directory)
  return (
    <>
      <Button
        variant="outline-secondary"
        className="with-icon"
        aria-disabled={disabledBecause !== undefined}
        title={disabledBecause}
        onClick={() => disabledBecause === undefined && input.current?.click()}
      >
        <Glyph path={UP} size={18} />
        Upload Files
      </Button>
      <input
        ref={input}
        type="file"
        multiple
        hidden
        aria-label="Files to upload"
        onChange={({ currentTarget }) => {
          upload({
            directories: [],
            files: [...(currentTarget.files ?? [])].map((file) => ({ file, directory: '' })),
            unreadable: [],
          })
          // Without the reset, choosing the same file again fires no change event.
          currentTarget.value = ''
        }}
      />
    </>
  )
}
