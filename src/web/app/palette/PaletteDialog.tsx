import { matchSorter } from 'match-sorter'
import { useEffect, useId, useRef, useState, type KeyboardEvent } from 'react'
import Modal from 'react-bootstrap/Modal'
import { useDispatch, useSelector } from 'react-redux'
import { Link } from 'react-router-dom'
import { ActionIcon } from '../../ui/ActionIcon'
import { counted } from '../../ui/counted'
import { commandChosen, paletteClosed, selectRecent } from './paletteSlice'
import { useCommands, type Command } from './useCommands'
import styles from './palette.module.scss'

/** Maximum number of results. Scrolling through more is slower than typing another letter. */
const MAX_SHOWN = 50
/** Results that Page Up and Page Down skip. */
const PAGE_ROWS = 8

/**
 * Finds pages, deployments, instances, directories, users and actions. Follows the combobox pattern of the WAI-ARIA
 * APG.
 */
export function PaletteDialog() {
  const dispatch = useDispatch()
  const commands = useCommands()
  const recent = useSelector(selectRecent)
  // Not in the store, because the typed text would be in the action log.
  const [query, setQuery] = useState('')
  const [chosenAt, setChosenAt] = useState(0)
  const list = useRef<HTMLDivElement>(null)
  const id = useId()
  const groups = groupsOf(commands, recent, query)
  const shown = groups.flatMap(([, group]) => group)
  const at = Math.min(chosenAt, shown.length - 1)

  useEffect(() => {
    const onClick = ({ target }: MouseEvent) => {
      const command =
        target instanceof Element ? target.closest<HTMLElement>('[data-command]')?.dataset.command : undefined
      // Runs after the guards of unsaved work and the link itself, which must stay mounted until then.
      if (command !== undefined) setTimeout(() => dispatch(commandChosen(command)))
    }
    window.addEventListener('click', onClick, true)
    return () => window.removeEventListener('click', onClick, true)
  }, [dispatch])

  useEffect(() => {
    list.current?.querySelector('[aria-selected="true"]')?.scrollIntoView({ block: 'nearest' })
  }, [at, query])

  const onKeyDown = (event: KeyboardEvent) => {
    if (event.nativeEvent.isComposing) return
    const to = {
      ArrowDown: at + 1,
      ArrowUp: at - 1,
      PageDown: at + PAGE_ROWS,
      PageUp: Math.max(at - PAGE_ROWS, 0),
    }[event.key]
    if (to !== undefined && shown.length > 0) {
      event.preventDefault()
      const isPage = event.key.startsWith('Page')
      setChosenAt(isPage ? Math.min(to, shown.length - 1) : (to + shown.length) % shown.length)
    } else if (event.key === 'Enter') {
      event.preventDefault()
      // The Enter that opened the palette may still be held.
      if (!event.repeat) list.current?.querySelector<HTMLElement>('[aria-selected="true"]')?.click()
    }
  }

  return (
    <Modal
      show
      onHide={() => dispatch(paletteClosed())}
      aria-label="Command palette"
      dialogClassName={styles.dialog ?? ''}
      contentClassName={styles.content ?? ''}
      animation={false}
    >
      <div className={styles.field}>
        <ActionIcon name="search" />
        <input
          role="combobox"
          aria-label="Find a page, deployment, instance or action"
          aria-expanded="true"
          aria-controls={`${id}-list`}
          aria-activedescendant={shown[at] && `${id}-${shown[at].id}`}
          placeholder="Find a page, deployment, instance or action"
          autoComplete="off"
          autoCapitalize="none"
          spellCheck={false}
          maxLength={200}
          // Typing is the purpose of the dialog.
          // eslint-disable-next-line jsx-a11y/no-autofocus
          autoFocus
          value={query}
          onChange={(event) => {
            setQuery(event.target.value)
            setChosenAt(0)
          }}
          onKeyDown={onKeyDown}
        />
        <kbd>Esc</kbd>
      </div>
      <div ref={list} id={`${id}-list`} role="listbox" aria-label="Commands" className={styles.list}>
        {groups.map(([name, group]) => (
          <div key={name} role="group" aria-label={name}>
            <p className={styles.group} aria-hidden="true">
              {name}
            </p>
            {group.map((command) => (
              <PaletteOption
                key={command.id}
                id={`${id}-${command.id}`}
                command={command}
                isChosen={shown[at] === command}
                onPoint={() => setChosenAt(shown.indexOf(command))}
              />
            ))}
          </div>
        ))}
      </div>
      <p className={shown.length === 0 ? styles.none : 'visually-hidden'} role="status">
        {shown.length === 0 ? 'Nothing matches' : counted(shown.length, 'result')}
      </p>
    </Modal>
  )
}

type PaletteOptionProps = { id: string; command: Command; isChosen: boolean; onPoint: () => void }

function PaletteOption({ id, command, isChosen, onPoint }: PaletteOptionProps) {
  const { label, hint, to, run, isSignOut } = command
  const properties = {
    id,
    role: 'option',
    tabIndex: -1,
    'aria-selected': isChosen,
    'data-command': command.id,
    ...(isSignOut && { 'data-leaves': 'session' }),
    className: styles.option,
    onMouseMove: onPoint,
  }
  const content = (
    <>
      <span className={styles.label}>{label}</span>
      {hint !== undefined && <span className={styles.hint}>{hint}</span>}
    </>
  )
  return to !== undefined ? (
    <Link {...properties} to={to}>
      {content}
    </Link>
  ) : (
    <button {...properties} type="button" onClick={run}>
      {content}
    </button>
  )
}

/**
 * Without a query: recent commands, then pages and actions. With one: all matches, the best first within each group.
 */
function groupsOf(commands: Command[], recent: string[], query: string): [name: string, commands: Command[]][] {
  if (query.trim() === '') {
    const used = recent.flatMap((id) => commands.find((command) => command.id === id) ?? [])
    const others = commands.filter((command) => !used.includes(command))
    return [
      ...(used.length > 0 ? [['Recently used', used] as [string, Command[]]] : []),
      ...byGroup(others.filter(({ group }) => group === 'Pages' || group === 'Actions')),
    ]
  }
  // Every word has to match, so that `lobby files` finds the directory of lobby.
  const words = query.trim().split(/\s+/)
  const matches = words.reduceRight(
    (found, word) => matchSorter(found, word, { keys: ['label', 'hint', 'group'] }),
    commands,
  )
  return byGroup(matches.slice(0, MAX_SHOWN))
}

/** Groups in the order of their first command. */
function byGroup(commands: Command[]): [name: string, commands: Command[]][] {
  const groups = new Map<string, Command[]>()
  for (const command of commands) groups.set(command.group, [...(groups.get(command.group) ?? []), command])
  return [...groups]
}
