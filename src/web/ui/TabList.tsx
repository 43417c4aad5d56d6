import type { KeyboardEvent } from 'react'

type TabListProps<Key extends string> = {
  /** Prefix of the ids of the tabs and panels; must be unique on the page. */
  id: string
  label: string
  tabs: readonly { key: Key; title: string }[]
  chosen: Key
  onChoose: (key: Key) => void
}

/** The tabs pattern of the ARIA Authoring Practices: one tab stop, arrow keys wrap around, Home and End. */
export function TabList<Key extends string>({ id, label, tabs, chosen, onChoose }: TabListProps<Key>) {
  const onKeyDown = (event: KeyboardEvent<HTMLButtonElement>) => {
    const at = tabs.findIndex(({ key }) => key === chosen)
    const to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: tabs.length - 1 }[event.key]
    const next = to === undefined ? undefined : tabs.at(to % tabs.length)
    if (!next) return
    event.preventDefault()
    onChoose(next.key)
    document.getElementById(tabId(id, next.key))?.focus()
  }
  return (
    <div className="tabs" role="tablist" aria-label={label}>
      {tabs.map(({ key, title }) => (
        <button
          key={key}
          id={tabId(id, key)}
          type="button"
          role="tab"
          aria-selected={key === chosen}
          aria-controls={key === chosen ? panelId(id, key) : undefined}
          tabIndex={key === chosen ? 0 : -1}
          onClick={() => onChoose(key)}
          onKeyDown={onKeyDown}
        >
          {title}
        </button>
      ))}
    </div>
  )
}

export const tabId = (id: string, key: string) => `${id}-tab-${key}`
export const panelId = (id: string, key: string) => `${id}-panel-${key}`
