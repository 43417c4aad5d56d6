import type { InstanceState } from '../../../../contract/instance'
import { instancesApi } from '../../../api/instances'
import { networkApi } from '../../../api/network'
import { addAppListeners } from '../../../app/appListeners'
import type { Services } from '../../../app/services'
import type { RootState } from '../../../app/types'
import { sessionEnded } from '../../../facts'
import { commandSubmitted, consoleOpened, selectTarget, stateReported } from '../../../sockets/consoleSlice'
import { inPane, paneOf, PANES } from '../../../sockets/panes'
import { AUTOSCROLL_KEY, autoScrollChosen, autoScrollLoaded, commandsLoaded, selectCommands } from '../instanceSlice'
import { forgetDrafts } from './commandDrafts'
import { keepCommands, readCommands } from './commandHistory'

addAppListeners((startListening) => {
  /** The last report about each pod while queries are in flight. */
  const latest = new Map<string, object>()
  startListening({
    actionCreator: stateReported,
    async effect({ payload: report }, listener) {
      const { dispatch } = listener
      const { deployment, podName, state } = report
      latest.set(podName, report)
      const set = (instances: { podName: string; state: InstanceState }[] | undefined) => {
        const instance = instances?.find((candidate) => candidate.podName === podName)
        // A state outside the contract is shown as an error (product §3).
        if (instance) instance.state = state as InstanceState
      }
      const apply = () => {
        dispatch(instancesApi.util.updateQueryData('getInstances', deployment, set))
        dispatch(
          networkApi.util.updateQueryData('getOverview', undefined, (overview) => {
            set(overview.sections.find((section) => section.deployment.name === deployment)?.instances)
            // Without a version, the next poll requests everything, because the cache now differs from the server's
            // response.
            delete overview.version
          }),
        )
      }
      const pendingQueries = [
        dispatch(instancesApi.util.getRunningQueryThunk('getInstances', deployment)),
        dispatch(networkApi.util.getRunningQueryThunk('getOverview', undefined)),
      ].filter((query) => query !== undefined)
      apply()
      // A response that was in flight has the old state. If the user has left the page, the next poll corrects it.
      const applyAgain = () => latest.get(podName) === report && isShown(listener.getState(), podName) && apply()
      await Promise.all(pendingQueries.map((query) => listener.pause(query).then(applyAgain)))
      if (latest.get(podName) === report) latest.delete(podName)
    },
  })

  startListening({
    predicate: (action) => consoleOpened.match(action) && paneOf(action) === undefined,
    effect(_action, listener) {
      // Later on, the state holds what the user chose in this page.
      listener.unsubscribe()
      if (prefersNoAutoScroll(listener.extra)) listener.dispatch(autoScrollLoaded(false))
    },
  })

  startListening({
    // Resets the view of a pane.
    predicate: (action) => consoleOpened.match(action) && paneOf(action) !== undefined,
    effect(action, listener) {
      if (prefersNoAutoScroll(listener.extra)) listener.dispatch(inPane(autoScrollLoaded(false), paneOf(action)))
    },
  })

  startListening({
    actionCreator: autoScrollChosen,
    effect: ({ payload: { on } }, { extra: { storage } }) => storage.setItem(AUTOSCROLL_KEY, String(on)),
  })

  startListening({
    actionCreator: consoleOpened,
    effect(action, listener) {
      const { deployment, podName } = action.payload
      const { data } = instancesApi.endpoints.getInstances.select(deployment)(listener.getState())
      const { data: overview } = networkApi.endpoints.getOverview.select()(listener.getState())
      const instances = data ?? overview?.sections.flatMap((section) => section.instances)
      const plainCommands = instances?.find((instance) => instance.podName === podName)?.plainCommands
      const commands = readCommands(listener.extra.storage, listener.getState().session.current, podName)
      listener.dispatch(inPane(commandsLoaded(commands, plainCommands), paneOf(action)))
    },
  })

  startListening({
    actionCreator: commandSubmitted,
    effect(action, listener) {
      const state = listener.getState()
      const pane = paneOf(action)
      const { podName } = selectTarget(state, pane) ?? {}
      if (podName) keepCommands(listener.extra.storage, state.session.current, podName, selectCommands(state, pane))
    },
  })

  startListening({ actionCreator: sessionEnded, effect: (_action, { extra }) => forgetDrafts(extra) })
})

const isShown = (state: RootState, podName: string) =>
  [undefined, ...PANES].some((pane) => selectTarget(state, pane)?.podName === podName)

const prefersNoAutoScroll = ({ storage }: Services) => storage.getItem(AUTOSCROLL_KEY) === 'false'
