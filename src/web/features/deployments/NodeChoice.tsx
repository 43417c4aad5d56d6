import { useEffect, useId, useRef } from 'react'
import type { NodeDetails } from '../../../contract/network'
import styles from './deployments.module.scss'
import { FailureAlert } from '../../ui/FailureAlert'
import { failureText } from '../../failure'
import { formatBytes } from '../../ui/formatBytes'

type NodeChoiceProps = {
  nodes: string[] | undefined
  /** All nodes of a cluster; undefined on one machine. */
  details: NodeDetails[] | undefined
  error: unknown
  /** Empty if no node is chosen. */
  chosen: string
  missing: boolean
  /** Takes the focus on mount, and each time `focusKey` changes. */
  focused: boolean
  focusKey: unknown
  onChoose: (node: string) => void
  onRetry: () => unknown
}

export function NodeChoice({
  nodes,
  details,
  error,
  chosen,
  missing,
  focused,
  focusKey,
  onChoose,
  onRetry,
}: NodeChoiceProps) {
  const id = useId()
  const field = useRef<HTMLSelectElement>(null)
  useEffect(() => {
    if (focused) field.current?.focus()
  }, [focused, focusKey])

  const invitation = error
    ? 'No nodes to choose from'
    : !nodes
      ? 'Loading nodes...'
      : nodes.length === 0
        ? 'There are no nodes'
        : 'Select a node'
  return (
    <div>
      <label className="form-label" htmlFor={id}>
        Node
      </label>
      <select
        id={id}
        ref={field}
        className={missing ? 'form-select is-invalid' : 'form-select'}
        aria-invalid={missing}
        aria-describedby={`${id}-rule`}
        aria-busy={!nodes && !error}
        value={chosen}
        onChange={(event) => onChoose(event.target.value)}
      >
        <option value="">{invitation}</option>
        {nodes?.map((name) => (
          <option key={name} value={name}>
            {name}
            {capacityText(details?.find((node) => node.name === name))}
          </option>
        ))}
        {details
          ?.filter(({ name }) => !nodes?.includes(name))
          .map(({ name }) => (
            <option key={name} value={name} disabled>
              {name} (not ready)
            </option>
          ))}
      </select>
      <p id={`${id}-rule`} className={missing ? 'form-text broken' : 'form-text'}>
        {missing
          ? 'Please select a node for the persistent deployment'
          : `The machine that its instance runs on.${details ? ' Free resources are those that no instance has requested.' : ''}`}
      </p>
      {Boolean(error) && (
        <div className={styles.nodeFailure}>
          <FailureAlert error={error} text={failureText(error, 'Failed to load nodes')} />
          <button type="button" className="btn btn-outline-secondary btn-sm" onClick={onRetry}>
            Retry
          </button>
        </div>
      )}
    </div>
  )
}

/** The free CPU and memory of a node; empty if the server does not send them. */
function capacityText(node: NodeDetails | undefined): string {
  const { cpu, memory }: Partial<NodeDetails> = node ?? {}
  if (!cpu || !memory) return ''
  return ` (${cores.format(cpu.free)} of ${cores.format(cpu.total)} CPU, ${formatBytes(memory.free)} of ${formatBytes(memory.total)} free)`
}

const cores = new Intl.NumberFormat('en', { maximumFractionDigits: 2 })
