import { useDispatch } from 'react-redux'
import { DEPLOYMENT_NAME_PATTERN, DEPLOYMENT_TYPES } from '../../../contract/pageRules'
import { useCreateDeploymentMutation, useGetNodesQuery } from '../../api/deployments'
import { failureText } from '../../failure'
import { useReportResult } from '../../api/useReportResult'
import { useFormDraft } from '../../drafts/useFormDraft'
import { Field } from '../../ui/form/Field'
import { FormDialog } from '../../ui/dialog/FormDialog'
import type { Creation, CreationChange } from './deploymentsSlice'
import { creationEdited, creationSubmitted, dialogClosed } from './deploymentsSlice'
import { NodeChoice } from './NodeChoice'
import { TypeChoice } from './TypeChoice'
import { FailureAlert } from '../../ui/FailureAlert'

const FAILED = 'Failed to create deployment'
const NAME_RULE = '1 to 40 lower-case letters, digits or dashes, not starting or ending with a dash'

export function CreateDeploymentDialog({ creation }: { creation: Creation }) {
  const [create, { isLoading, error, reset }] = useCreateDeploymentMutation()
  const persistent = creation.type === 'persistent'
  const nodes = useGetNodesQuery(undefined, { skip: !persistent, refetchOnMountOrArgChange: true })
  const { tries = 0 } = creation
  const report = useReportResult()
  const dispatch = useDispatch()

  const name = creation.name.trim()
  const [onlyNode, ...otherNodes] = nodes.data?.nodes ?? []
  const node = creation.node || (otherNodes.length === 0 && onlyNode) || ''
  const lacksName = tries > 0 && name === ''
  const isMisnamed = name !== '' && !DEPLOYMENT_NAME_PATTERN.test(name)
  const lacksNode = tries > 0 && persistent && node === ''
  const isProxy = creation.type === 'proxy'

  const edit = (change: CreationChange) => {
    // The error of the last attempt was about other values.
    if (error) reset()
    dispatch(creationEdited(change))
  }
  const draft = useFormDraft(
    isProxy ? 'create proxy' : 'create deployment',
    creation.name === '' ? undefined : { name: creation.name, type: creation.type, node: creation.node },
    ({ name = '', type, node = '' }) =>
      edit({ name, node, type: DEPLOYMENT_TYPES.find((known) => known === type) ?? creation.type }),
  )
  const close = () => {
    draft.drop()
    dispatch(dialogClosed('create'))
  }
  const submit = async () => {
    dispatch(creationSubmitted())
    if (name === '' || isMisnamed || (persistent && node === '')) return
    const result = await create({ name, type: creation.type, ...(persistent && { node }) })
    report(result, `Successfully created ${name}`, FAILED)
    if (!result.error) close()
  }

  return (
    <FormDialog
      title={isProxy ? 'Create Proxy' : 'Create Deployment'}
      action="Create"
      busyText="Creating..."
      busy={isLoading}
      onSubmit={submit}
      onClose={close}
    >
      {draft.offered}
      <FailureAlert error={error} text={failureText(error, FAILED)} />
      <Field
        label="Name"
        rule={lacksName ? 'Deployment name is required' : NAME_RULE}
        broken={lacksName || isMisnamed}
        focused={tries === 0 || lacksName || isMisnamed}
        focusKey={tries}
        autoComplete="off"
        autoCapitalize="none"
        spellCheck={false}
        required
        value={creation.name}
        onChange={(text) => edit({ name: text })}
      />
      {!isProxy && <TypeChoice chosen={creation.type} onChoose={(type) => edit({ type })} />}
      {persistent && (
        <NodeChoice
          nodes={nodes.data?.nodes}
          details={nodes.data?.details}
          error={nodes.error}
          chosen={node}
          missing={lacksNode}
          focused={lacksNode && !lacksName && !isMisnamed}
          focusKey={tries}
          onChoose={(choice) => edit({ node: choice })}
          onRetry={nodes.refetch}
        />
      )}
    </FormDialog>
  )
}
