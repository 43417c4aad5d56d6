import type { KeyboardEvent } from 'react'
import { useLocation, useSearchParams } from 'react-router-dom'

export const TABS = ['Console', 'Metrics', 'Details'] as const
export type Tab = (typeof TABS)[number]

const keyOf = (tab: Tab) => tab.toLowerCase()

/** The tab is in the address, so that a reload, a link and a replay show the same. */
export function useTab(): [Tab, (tab: Tab) => void] {
  const [parameters, setParameters] = useSearchParams()
  const { state } = useLocation() as { state: unknown }
  const tab = TABS.find((candidate) => keyOf(candidate) === parameters.get('tab')) ?? 'Console'
  return [tab, (next) => setParameters(next === 'Console' ? {} : { tab: keyOf(next) }, { replace: true, state, preventScrollReset: true })]
}

export function InstanceTabs({ tab, onChoose }: { tab: Tab; onChoose: (tab: Tab) => void }) {
  const onKeyDown = (event: KeyboardEvent<HTMLButtonElement>) => {
    const at = TABS.indexOf(tab)
    const to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: TABS.length - 1 }[event.key]
    const next = to === undefined ? undefined : TABS.at(to % TABS.length)
    if (!next) return
    event.preventDefault()
    onChoose(next)
    document.getElementById(tabId(next))?.focus()
  }
  return (
    <div className="tabs" role="tablist" aria-label="Instance">
      {TABS.map((name) => (
        <button
          key={name}
          id={tabId(name)}
          type="button"
          role="tab"
          aria-selected={name === tab}
          aria-controls={panelId(name)}
          tabIndex={name === tab ? 0 : -1}
          onClick={() => onChoose(name)}
          onKeyDown={onKeyDown}
        >
          {name}
        </button>
      ))}
    </div>
  )
}

export const tabId = (tab: Tab) => `tab-${keyOf(tab)}`
export const panelId = (tab: Tab) => `panel-${keyOf(tab)}`
