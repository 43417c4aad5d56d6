import type { ReactNode } from 'react'
import { useState } from 'react'
import Button from 'react-bootstrap/Button'
import { CopyButton } from '../../ui/copy/CopyButton'
import { ConfirmDialog } from '../../ui/dialog/ConfirmDialog'
import { EmptyState } from '../../ui/EmptyState'
import { FailureAlert } from '../../ui/FailureAlert'
import { BusyButton } from '../../ui/form/BusyButton'
import { Checkbox } from '../../ui/form/Checkbox'
import { Field } from '../../ui/form/Field'
import { NewPasswordField } from '../../ui/form/NewPasswordField'
import { SubmitButton } from '../../ui/form/SubmitButton'
import { LoadFailure } from '../../ui/LoadFailure'
import { Menu, MenuItem } from '../../ui/Menu'
import { BackLink } from '../../ui/pageHead/BackLink'
import { RefreshButton } from '../../ui/pageHead/RefreshButton'
import { SearchField } from '../../ui/SearchField'
import { TabList } from '../../ui/TabList'
import { TimeAgo } from '../../ui/time/TimeAgo'
import { TimeUntil } from '../../ui/time/TimeUntil'
import styles from './components.module.scss'

const TABS = [
  { key: 'one', title: 'Console' },
  { key: 'two', title: 'Metrics' },
] as const
const VARIANTS = ['primary', 'outline-secondary', 'outline-danger', 'danger', 'link'] as const
const STATES = { running: 'Online', changing: 'Starting Up', blocked: 'Blocked', stopped: 'Offline' }
/** Sizes and line heights of texts in pixels. */
const SCALE = [
  [28, 34],
  [20, 28],
  [16, 24],
  [14, 20],
  [13, 18],
  [12, 16],
] as const
const nothing = () => undefined

/**
 * Shows each shared component in all its states, for developers: `/dev/components` of `npm run dev`. Not part of a
 * build.
 */
export function ComponentsPage() {
  const [text, setText] = useState('')
  const [isChecked, setChecked] = useState(true)
  const [tab, setTab] = useState<(typeof TABS)[number]['key']>('one')
  const [isAsking, setAsking] = useState(false)
  return (
    <>
      <title>Components · Quarterdeck</title>
      <div className="page-head">
        <h1>Components</h1>
      </div>
      <Part title="Type">
        {SCALE.map(([size, lineHeight]) => (
          <p key={size} style={{ fontSize: `${size / 16}rem`, lineHeight: `${lineHeight / 16}rem` }}>
            {size}/{lineHeight} Instances of lobby: 3 of 5 online
          </p>
        ))}
        <code>java -Xmx1G -jar server.jar nogui</code>
      </Part>
      <Part title="Buttons">
        {VARIANTS.map((variant) => (
          <Button key={variant} variant={variant}>
            {variant}
          </Button>
        ))}
        <Button aria-disabled title="It is already running">
          Cannot be used
        </Button>
        <BusyButton busy busyText="Saving..." onClick={nothing}>
          Save Changes
        </BusyButton>
        <CopyButton text="Copied" label="Copy" />
        <BackLink to="/">Back to home</BackLink>
        <RefreshButton busy={false} onRefresh={nothing} />
        <RefreshButton busy onRefresh={nothing} />
      </Part>
      <Part title="Fields">
        <Field label="Name" value={text} rule="At most 40 characters" onChange={setText} />
        <Field label="Broken" value="a b" broken problem="Name contains invalid characters" onChange={nothing} />
        <NewPasswordField label="Password" value={text} onChange={setText} />
        <SearchField label="Search users" text={text} onChange={setText} />
        <Checkbox checked={isChecked} onChange={setChecked}>
          With console output
        </Checkbox>
        <input
          type="checkbox"
          role="switch"
          className="switch"
          aria-label="lobby enabled"
          checked={isChecked}
          onChange={({ target }) => setChecked(target.checked)}
        />
        <SubmitButton busy={false}>Sign In</SubmitButton>
        <SubmitButton busy>Sign In</SubmitButton>
      </Part>
      <Part title="Tabs and menus">
        <TabList id="components" label="Tabs" tabs={TABS} chosen={tab} onChoose={setTab} />
        <Menu label="Actions for lobby">
          <MenuItem onClick={nothing}>Rename</MenuItem>
          <MenuItem onClick={nothing} disabledBecause="You do not have the right “power” on this deployment">
            Restart
          </MenuItem>
          <MenuItem danger onClick={() => setAsking(true)}>
            Delete
          </MenuItem>
        </Menu>
        <Menu label="Sort" button="Name">
          <MenuItem onClick={nothing}>Size</MenuItem>
        </Menu>
      </Part>
      <Part title="States">
        {Object.entries(STATES).map(([tone, name]) => (
          <span key={tone} className={`state ${tone}`}>
            {name}
          </span>
        ))}
        <TimeAgo time={new Date(2026, 0, 1).getTime()} />
        <TimeUntil time={new Date(2100, 0, 1).getTime()} />
      </Part>
      <Part title="Empty and failed">
        <EmptyState>No API keys</EmptyState>
        <EmptyState action={<Button size="sm">Create New</Button>}>This directory is empty</EmptyState>
        <LoadFailure title="Failed to Load Data" detail="Failed to fetch network data" busy={false} onRetry={nothing} />
        <FailureAlert error={{ status: 409, data: {} }} text="A deployment named “lobby” already exists" />
      </Part>
      {isAsking && (
        <ConfirmDialog
          title="Delete lobby"
          action="Delete"
          busyText="Deleting..."
          busy={false}
          onConfirm={() => setAsking(false)}
          onClose={() => setAsking(false)}
        >
          This action cannot be undone.
        </ConfirmDialog>
      )}
    </>
  )
}

function Part({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section className={styles.part}>
      <h2>{title}</h2>
      <div className={`${styles.samples} panel`}>{children}</div>
    </section>
  )
}
