import { useLocation, useSearchParams } from 'react-router-dom'
import { panelId, TabList, tabId } from '../../ui/TabList'

const TABS = [
  { key: 'console', title: 'Console' },
  { key: 'metrics', title: 'Metrics' },
  { key: 'details', title: 'Details' },
] as const
type Tab = (typeof TABS)[number]['key']

const ID = 'instance'

/** The tab is in the address, so that a reload, a link and a replay show the same one. */
export function useTab(): [Tab, (tab: Tab) => void] {
  const [parameters, setParameters] = useSearchParams()
  const { state } = useLocation() as { state: unknown }
  const tab = TABS.find(({ key }) => key === parameters.get('tab'))?.key ?? 'console'
  return [
    tab,
    (next) =>
      setParameters(next === 'console' ? {} : { tab: next }, { replace: true, state, preventScrollReset: true }),
  ]
}

export function InstanceTabs({ tab, onChoose }: { tab: Tab; onChoose: (tab: Tab) => void }) {
  return <TabList id={ID} label="Instance" tabs={TABS} chosen={tab} onChoose={onChoose} />
}

export const panelOf = (tab: Tab) => ({ id: panelId(ID, tab), role: 'tabpanel', 'aria-labelledby': tabId(ID, tab) })
