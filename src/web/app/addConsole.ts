import { addListener } from '@reduxjs/toolkit'
import type { InstanceState } from '../../contract/instance'
import { instancesApi } from '../api/instances'
import { networkApi } from '../api/network'
import { keepCommands, readCommands } from '../features/instance/commandHistory'
import { AUTOSCROLL_KEY, autoScrollChosen, autoScrollRecalled, commandsRecalled, instanceSlice } from '../features/instance/instanceSlice'
import { createConsoleSocket } from '../sockets/consoleSocket'
import { commandSent, consoleOpened, consoleSlice, stateReported } from '../sockets/consoleSlice'
import type { AppDispatch, AppStore, RootState, Services } from './types'

const addConsoleListener = addListener.withTypes<RootState, AppDispatch, Services>()

/** Adds to the store what only the instance page needs, and the first page therefore does not carry. Once per store. */
export function addConsole(store: AppStore) {
  const { dispatch } = store
  if (store.getState().console) return
  store.addConsole({ console: consoleSlice.reducer, instance: instanceSlice.reducer }, createConsoleSocket)

  dispatch(
    addConsoleListener({
      actionCreator: stateReported,
      effect({ payload: { deployment, podName, state } }, { dispatch }) {
        const set = (instances: { podName: string; state: InstanceState }[] | undefined) => {
          const instance = instances?.find((candidate) => candidate.podName === podName)
          // What the contract does not know is shown as the error that it is (product §3).
          if (instance) instance.state = state as InstanceState
        }
        dispatch(instancesApi.util.updateQueryData('getInstances', deployment, set))
        dispatch(
          networkApi.util.updateQueryData('getOverview', undefined, ({ sections }) =>
            set(sections.find((section) => section.deployment.name === deployment)?.instances),
          ),
        )
      },
    }),
  )
  dispatch(
    addConsoleListener({
      actionCreator: consoleOpened,
      effect({ payload: { podName } }, { dispatch, extra: { storage } }) {
        dispatch(commandsRecalled(readCommands(storage, podName)))
      },
    }),
  )
  dispatch(
    addConsoleListener({
      actionCreator: commandSent,
      effect(_action, listener) {
        const { console, instance } = listener.getState()
        if (console?.target && instance) keepCommands(listener.extra.storage, console.target.podName, instance.commands)
      },
    }),
  )
  dispatch(
    addConsoleListener({
      actionCreator: autoScrollChosen,
      effect: ({ payload: { on } }, { extra: { storage } }) => storage.setItem(AUTOSCROLL_KEY, String(on)),
    }),
  )
  dispatch((dispatch: AppDispatch, _getState: () => RootState, { storage }: Services) => {
    if (storage.getItem(AUTOSCROLL_KEY) === 'false') dispatch(autoScrollRecalled(false))
  })
}
