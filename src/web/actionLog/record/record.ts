import { rootReducer } from '../../app/rootReducer'
import type { AppStore } from '../../app/store'
import { showAction, showState } from './devTools'
import { createRecorder } from './recorder'

/** Autocomplete tokens of fields for secrets. The recorder learns their values even if they are never sent. */
const FOR_SECRETS = /-password$|^one-time-code$/

/** Before sign-in, every field except the username is for a secret: passwords, codes and invite codes. */
const isForSecret = (field: HTMLInputElement) =>
  field.type === 'password' ||
  FOR_SECRETS.test(field.autocomplete) ||
  (field.autocomplete !== 'username' && field.closest('.auth-form') !== null)

type Recorder = ReturnType<typeof createRecorder>

const recorders = new WeakMap<AppStore, Recorder>()

/** Makes exports from a store that records nothing (the store of a replay) contain what `recording` returns. */
export function exportAs(store: AppStore, recording: Recorder['recording']) {
  recorders.set(store, { note() {}, fieldTyped() {}, recording, forgetSignedOut: () => true })
}

/** Returns the recorder of a store. The first call creates it and passes all actions of the tape to it. */
export function recorderOf(store: AppStore): Recorder {
  const found = recorders.get(store)
  if (found) return found
  const recorder = createRecorder(store.begun, store.tape.startedAt, rootReducer)
  recorders.set(store, recorder)
  const noteField = (field: EventTarget | null) => {
    // A command is recorded when it is sent.
    if (field instanceof HTMLInputElement && field.dataset.commandLine === undefined)
      recorder.fieldTyped(field, field.value, isForSecret(field))
  }
  store.tape.handTo((at, action) => (action instanceof Event ? noteField(action.target) : recorder.note(at, action)), {
    action: showAction,
    state: showState,
  })
  return recorder
}
