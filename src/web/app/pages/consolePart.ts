import { addListener } from '@reduxjs/toolkit'
import type { InstanceState } from '../../../contract/instance'
import { instancesApi } from '../../api/instances'
import { networkApi } from '../../api/network'
import { sessionEnded } from '../../facts'
import { forgetDrafts } from '../../features/instance/console/commandDrafts'
import { keepCommands, readCommands } from '../../features/instance/console/commandHistory'
import {
  AUTOSCROLL_KEY,
  autoScrollChosen,
  autoScrollLoaded,
  commandsLoaded,
  instanceSlice,
} from '../../features/instance/instanceSlice'
import { connectConsole as connectByWebSocket } from '../../sockets/connectConsole'
import { createConsoleSocket } from '../../sockets/consoleSocket'
import { commandSubmitted, consoleOpened, consoleSlice, stateReported } from '../../sockets/consoleSlice'
import type { Part } from './part'
import type { AppDispatch, AppStore, RootState, Services } from '../types'

const addConsoleListener = addListener.withTypes<RootState, AppDispatch, Services>()

export const consolePart: Part<'console' | 'instance'> = {
  reducers: { console: consoleSlice.reducer, instance: instanceSlice.reducer },
  middleware: ({ connectConsole = connectByWebSocket }) => createConsoleSocket(connectConsole),
  begin,
}

function begin(store: Pick<AppStore, 'dispatch'>) {
  const { dispatch } = store
  dispatch(
    addConsoleListener({
      actionCreator: stateReported,
      async effect({ payload: { deployment, podName, state } }, listener) {
        listener.cancelActiveListeners()
        const set = (instances: { podName: string; state: InstanceState }[] | undefined) => {
          const instance = instances?.find((candidate) => candidate.podName === podName)
          // A state outside the contract is shown as an error (product §3).
          if (instance) instance.state = state as InstanceState
        }
        const apply = () => {
          dispatch(instancesApi.util.updateQueryData('getInstances', deployment, set))
          dispatch(
            networkApi.util.updateQueryData('getOverview', undefined, ({ sections }) =>
              set(sections.find((section) => section.deployment.name === deployment)?.instances),
            ),
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
    }),
  )
  dispatch(
    addConsoleListener({
      actionCreator: consoleOpened,
      effect({ payload: { deployment, podName } }, listener) {
        const { data } = instancesApi.endpoints.getInstances.select(deployment)(listener.getState())
        dispatch(
          commandsLoaded(
            readCommands(listener.extra.storage, podName),
            data?.find((instance) => instance.podName === podName)?.plainCommands,
          ),
        )
      },
    }),
  )
  dispatch(
    addConsoleListener({
      actionCreator: commandSubmitted,
      effect(_action, listener) {
        const { console, instance } = listener.getState()
        if (console?.target && instance) keepCommands(listener.extra.storage, console.target.podName, instance.commands)
      },
    }),
  )
  dispatch(
    addConsoleListener({
      actionCreator: sessionEnded,
      effect: () => forgetDrafts(store),
    }),
  )
  dispatch(
    addConsoleListener({
      actionCreator: autoScrollChosen,
      effect: ({ payload: { on } }, { extra: { storage } }) => storage.setItem(AUTOSCROLL_KEY, String(on)),
    }),
  )
  dispatch((dispatch: AppDispatch, _getState: () => RootState, { storage }: Services) => {
    if (storage.getItem(AUTOSCROLL_KEY) === 'false') dispatch(autoScrollLoaded(false))
  })
}
