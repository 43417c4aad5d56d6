import type { FormEvent } from 'react'
import { useState } from 'react'
import Button from 'react-bootstrap/Button'
import Modal from 'react-bootstrap/Modal'
import { useDispatch } from 'react-redux'
import { DEPLOYMENT_NAME_PATTERN } from '../../../contract/rules'
import { useCreateDeploymentMutation, useGetNodesQuery } from '../../api/deployments'
import { Field } from '../../ui/Field'
import { CallFailure } from './CallFailure'
import type { Creation } from './deploymentsSlice'
import { creationEdited, dialogClosed } from './deploymentsSlice'
import { NodeChoice } from './NodeChoice'
import { TypeChoice } from './TypeChoice'
import { useReport } from './useReport'
import '../../styles/modal.scss'

const NAME_RULE = '1 to 40 lower-case letters, digits or dashes, not starting or ending with a dash'

export function CreateDialog({ creation }: { creation: Creation }) {
  const [create, { isLoading, error }] = useCreateDeploymentMutation()
  const persistent = creation.type === 'persistent'
  const nodes = useGetNodesQuery(undefined, { skip: !persistent, refetchOnMountOrArgChange: true })
  const [tries, setTries] = useState(0)
  const report = useReport()
  const dispatch = useDispatch()

  const name = creation.name.trim()
  const [onlyNode, ...otherNodes] = nodes.data ?? []
  const node = creation.node || (otherNodes.length === 0 && onlyNode) || ''
  const lacksName = tries > 0 && name === ''
  const lacksNode = tries > 0 && persistent && node === ''
  const isProxy = creation.type === 'proxy'
  const title = isProxy ? 'Create Proxy' : 'Create Deployment'

  const close = () => !isLoading && dispatch(dialogClosed('create'))
  const submit = async (event: FormEvent) => {
    event.preventDefault()
    setTries(tries + 1)
    if (isLoading || name === '' || (persistent && node === '')) return
    const result = await create({ name, type: creation.type, ...(persistent && { node }) })
    report(result, `Successfully created ${name}`, 'Failed to create deployment')
    if (!result.error) dispatch(dialogClosed('create'))
  }

  return (
    <Modal show onHide={close} centered aria-labelledby="create-title">
      <form onSubmit={submit} noValidate>
        <Modal.Header closeButton={!isLoading}>
          <Modal.Title as="h2" id="create-title">
            {title}
          </Modal.Title>
        </Modal.Header>
        <Modal.Body className="create-body">
          <CallFailure error={error} text="Failed to create deployment" />
          <Field
            label="Name"
            // A hint and no more: the last word on names is the server's.
            rule={lacksName ? 'Deployment name is required' : NAME_RULE}
            broken={lacksName || (name !== '' && !DEPLOYMENT_NAME_PATTERN.test(name))}
            focused={tries === 0 || lacksName}
            focusKey={tries}
            autoComplete="off"
            autoCapitalize="none"
            spellCheck={false}
            required
            value={creation.name}
            onChange={(text) => dispatch(creationEdited({ name: text }))}
          />
          {!isProxy && <TypeChoice chosen={creation.type} onChoose={(type) => dispatch(creationEdited({ type }))} />}
          {persistent && (
            <NodeChoice
              nodes={nodes.data}
              error={nodes.error}
              chosen={node}
              missing={lacksNode}
              focused={lacksNode && !lacksName}
              focusKey={tries}
              onChoose={(choice) => dispatch(creationEdited({ node: choice }))}
              onRetry={nodes.refetch}
            />
          )}
        </Modal.Body>
        <Modal.Footer>
          <Button variant="outline-secondary" aria-disabled={isLoading} onClick={close}>
            Cancel
          </Button>
          <Button type="submit" className="with-spinner" aria-disabled={isLoading} aria-busy={isLoading}>
            {isLoading && <span className="spinner-border spinner-border-sm" aria-hidden="true" />}
            {isLoading ? 'Creating...' : 'Create'}
          </Button>
        </Modal.Footer>
      </form>
    </Modal>
  )
}
