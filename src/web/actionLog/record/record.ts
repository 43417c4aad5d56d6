import { rootReducer } from '../../app/rootReducer'
import type { AppStore } from '../../app/types'
import { showAction, showState } from './devTools'
import { createRecorder } from './recorder'

/** Autocomplete tokens of fields for secrets. Their values are known even if the form refuses to send them. */
const FOR_SECRETS = /-password$|^one-time-code$/

const recorders = new WeakMap<AppStore, ReturnType<typeof createRecorder>>()

/** Returns the recorder of a store. The first call creates it and passes it all actions from the tape. */
export function recorderOf(store: AppStore) {
  const found = recorders.get(store)
  if (found) return found
  const recorder = createRecorder(store.begun, store.tape.startedAt, rootReducer)
  recorders.set(store, recorder)
  document.addEventListener(
    'input',
    ({ target }) => {
      if (target instanceof HTMLInputElement && (target.type === 'password' || FOR_SECRETS.test(target.autocomplete)))
        recorder.secretTyped(target, target.value)
    },
    true,
  )
  store.tape.handTo(recorder.note, { action: showAction, state: showState })
  return recorder
}
