import { rootReducer } from '../../app/rootReducer'
import type { AppStore } from '../../app/store'
import { showAction, showState } from './devTools'
import { createRecorder } from './recorder'

/** Autocomplete tokens of fields for secrets. Their values are known even if they are never sent. */
const FOR_SECRETS = /-password$|^one-time-code$/

/** On the pages before the sign-in every field except the user name is for a secret: passwords, codes, invite codes. */
const isForSecret = (field: HTMLInputElement) =>
  field.type === 'password' ||
  FOR_SECRETS.test(field.autocomplete) ||
  (field.autocomplete !== 'username' && field.closest('.auth-form') !== null)

type Recorder = ReturnType<typeof createRecorder>

const recorders = new WeakMap<AppStore, Recorder>()

/** Makes a store that records nothing, that of a replay, export what `recording` returns. */
export function exportAs(store: AppStore, recording: Recorder['recording']) {
  recorders.set(store, { note() {}, secretTyped() {}, recording, forgetSignedOut: () => true })
}

/** Returns the recorder of a store. The first call creates it and passes it all actions from the tape. */
export function recorderOf(store: AppStore): Recorder {
  const found = recorders.get(store)
  if (found) return found
  const recorder = createRecorder(store.begun, store.tape.startedAt, rootReducer)
  recorders.set(store, recorder)
  const noteField = (field: EventTarget | null) => {
    if (field instanceof HTMLInputElement && isForSecret(field)) recorder.secretTyped(field, field.value)
  }
  store.tape.handTo((at, action) => (action instanceof Event ? noteField(action.target) : recorder.note(at, action)), {
    action: showAction,
    state: showState,
  })
  return recorder
}
