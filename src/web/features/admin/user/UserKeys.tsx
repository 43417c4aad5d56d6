import type { ComponentType } from 'react'
import { useDispatch } from 'react-redux'
import type { ApiKey } from '../../../../contract/access'
import { useGetUserKeysQuery } from '../../../api/users'
import { dialogOpened } from '../adminSlice'
import { EmptyState } from '../../../ui/EmptyState'
import { Section } from './Section'

/** The list of API keys of the page /keys, which belongs to another feature. */
export type KeyList = ComponentType<{ keys: ApiKey[]; onDelete: (key: ApiKey) => void }>

export function UserKeys({ id, keyList: Keys }: { id: number; keyList: KeyList }) {
  const query = useGetUserKeysQuery(id, { refetchOnMountOrArgChange: true })
  const dispatch = useDispatch()
  return (
    <Section title="API keys" query={query} what="the API keys">
      {query.data?.length === 0 && <EmptyState>No API keys</EmptyState>}
      {query.data && query.data.length > 0 && (
        <Keys keys={query.data} onDelete={({ id: of }) => dispatch(dialogOpened({ kind: 'deleteKey', id, of }))} />
      )}
    </Section>
  )
}
