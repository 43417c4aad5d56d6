import { render } from '@testing-library/react'
import userEvent, { PointerEventsCheckLevel } from '@testing-library/user-event'
import { App } from '../../../src/web/app/App'
import { connectPage } from '../../../src/web/app/page'
import { makeStore } from '../../../src/web/app/store'
import type { DraftDatabase } from '../../../src/web/drafts/draftDatabase'
import { tokenOf } from './factories'
import { network } from './network'
import { fakeConsole, fakeDrafts, fakeRealtime, fakeServices, fakeUploads } from './services'

type Options = {
  signedInAs?: string
  isAdmin?: boolean
  /** What the browser's storage holds already. */
  stored?: Record<string, string>
  /** When the session of `signedInAs` ends, in milliseconds since the epoch. */
  expiresAt?: number
  /** A token as it is, in place of a good one. */
  token?: string
  /** What the history entry carries, as after a reload. */
  historyState?: unknown
  /** What earlier visits left. */
  drafts?: DraftDatabase
}

let leave: (() => void) | undefined
afterEach(() => leave?.())

/** The whole console at a path: the real store, the real routes, a fake only where the network or the browser begins. */
export function renderApp(
  path: string,
  {
    signedInAs,
    isAdmin = false,
    stored = {},
    expiresAt,
    token,
    historyState = null,
    drafts = fakeDrafts().database,
  }: Options = {},
) {
  const services = fakeServices()
  const realtime = fakeRealtime()
  const console = fakeConsole()
  const uploads = fakeUploads()
  for (const [key, value] of Object.entries(stored)) services.stored.set(key, value)
  if (signedInAs) {
    services.jar.set('token', tokenOf(signedInAs, { expiresAt }))
    services.jar.set('isAdmin', isAdmin ? '1' : '0')
  }
  if (token) services.jar.set('token', token)
  window.history.replaceState(historyState, '', path)

  const { cookies, storage, now } = services
  const store = makeStore({
    cookies,
    storage,
    now,
    drafts,
    connectConsole: console.connect,
    connectRealtime: realtime.connect,
    sendUpload: uploads.send,
  })
  const stopFollowing = connectPage(store)
  const { unmount } = render(<App store={store} />)
  leave = () => {
    unmount()
    stopFollowing()
    leave = undefined
  }
  return {
    store,
    network,
    realtime,
    console,
    uploads,
    services,
    user: createUser(),
    leave: () => leave?.(),
  }
}

/** From this length on plain text is pasted: rendering after each key takes most of the time of a test that types. */
const PASTED_FROM = 4

/** A user of the page. `type` pastes what is long and plain; `keyboard` always presses key after key. */
function createUser() {
  // There are no style sheets here, so no element can be closed to the pointer by one.
  const user = userEvent.setup({ advanceTimers: advance, pointerEventsCheck: PointerEventsCheckLevel.Never })
  const type: typeof user.type = async (element, text, options) => {
    if (text.length < PASTED_FROM || /[{[]/.test(text) || options) return user.type(element, text, options)
    await user.click(element)
    await user.paste(text)
  }
  return { ...user, type }
}

/** Lets user-event wait by the clock of the test, whichever it is. */
function advance(milliseconds: number) {
  if ('clock' in setTimeout) jest.advanceTimersByTime(milliseconds)
}
