import { useSelector } from 'react-redux'
import { CreateEntryDialog } from './CreateEntryDialog'
import { DeleteEntriesDialog } from './DeleteEntriesDialog'
import { EditorDialog } from '../editor/EditorDialog'
import { selectDialog } from '../filesSlice'
import { MoveDialog } from './MoveDialog'
import { RenameDialog } from './RenameDialog'

export function FileDialogs({ directory }: { directory: string }) {
  const dialog = useSelector(selectDialog)
  switch (dialog?.kind) {
    case 'create':
      return <CreateEntryDialog directory={directory} creation={dialog} />
    case 'delete':
      return <DeleteEntriesDialog deletion={dialog} />
    case 'move':
      return <MoveDialog directory={directory} move={dialog} />
    case 'rename':
      return <RenameDialog renaming={dialog} />
    case 'edit':
      return <EditorDialog key={dialog.item.path} editing={dialog} />
    case undefined:
      return null
  }
}
