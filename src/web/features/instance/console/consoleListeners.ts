import type { InstanceState } from '../../../../contract/instance'
import { instancesApi } from '../../../api/instances'
import { networkApi } from '../../../api/network'
import { addAppListeners } from '../../../app/appListeners'
import { sessionEnded } from '../../../facts'
import { commandSubmitted, consoleOpened, stateReported } from '../../../sockets/consoleSlice'
import { AUTOSCROLL_KEY, autoScrollChosen, autoScrollLoaded, commandsLoaded, selectCommands } from '../instanceSlice'
import { forgetDrafts } from './commandDrafts'
import { keepCommands, readCommands } from './commandHistory'

addAppListeners((startListening) => {
  startListening({
    actionCreator: stateReported,
    async effect({ payload: { deployment, podName, state } }, listener) {
      const { dispatch } = listener
      listener.cancelActiveListeners()
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
            // The next poll asks for everything: this is not what the server has sent.
            delete overview.version
          }),
        )
      }
      const pendingQueries = [
        dispatch(instancesApi.util.getRunningQueryThunk('getInstances', deployment)),
        dispatch(networkApi.util.getRunningQueryThunk('getOverview', undefined)),
      ].filter((query) => query !== undefined)
      apply()
      // An answer that was in-flight holds the old state. If the user has left the page, the next poll corrects it.
      const applyAgain = () => listener.getState().console?.target?.podName === podName && apply()
      await Promise.all(pendingQueries.map((query) => listener.pause(query).then(applyAgain)))
    },
  })

  startListening({
    actionCreator: consoleOpened,
    effect(_action, listener) {
      // Later on, the state holds what the user chose in this page.
      listener.unsubscribe()
      if (listener.extra.storage.getItem(AUTOSCROLL_KEY) === 'false') listener.dispatch(autoScrollLoaded(false))
    },
  })

  startListening({
    actionCreator: autoScrollChosen,
    effect: ({ payload: { on } }, { extra: { storage } }) => storage.setItem(AUTOSCROLL_KEY, String(on)),
  })

  startListening({
    actionCreator: consoleOpened,
    effect({ payload: { deployment, podName } }, listener) {
      const { data } = instancesApi.endpoints.getInstances.select(deployment)(listener.getState())
      listener.dispatch(
        commandsLoaded(
          readCommands(listener.extra.storage, podName),
          data?.find((instance) => instance.podName === podName)?.plainCommands,
        ),
      )
    },
  })

  startListening({
    actionCreator: commandSubmitted,
    effect(_action, listener) {
      const state = listener.getState()
      const { podName } = state.console?.target ?? {}
      if (podName) keepCommands(listener.extra.storage, podName, selectCommands(state))
    },
  })

  startListening({ actionCreator: sessionEnded, effect: (_action, { extra }) => forgetDrafts(extra) })
})
