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
  /** The initial content of the browser's storage. */
  stored?: Record<string, string>
  /** Cookies beside those of the session. */
  cookies?: Record<string, string>
  /** When the session of `signedInAs` ends, in milliseconds since the epoch. */
  expiresAt?: number
  /** A raw token that replaces the valid one. */
  token?: string
  /** The state of the history entry, as after a reload. */
  historyState?: unknown
  /** Drafts that earlier visits saved. */
  drafts?: DraftDatabase
}

let leave: (() => void) | undefined
afterEach(() => leave?.())

/** Renders the whole console at a path with the real store and routes, and fakes only for network and browser. */
export function renderApp(
  path: string,
  {
    signedInAs,
    isAdmin = false,
    stored = {},
    cookies: otherCookies = {},
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
  for (const [name, value] of Object.entries(otherCookies)) services.jar.set(name, value)
  if (signedInAs) {
    services.jar.set('token', tokenOf(signedInAs, { expiresAt }))
    services.jar.set('isAdmin', isAdmin ? '1' : '0')
  }
  if (token) services.jar.set('token', token)
  window.history.replaceState(historyState, '', path)

  const { cookies, storage, now, random } = services
  const store = makeStore({
    cookies,
    storage,
    now,
    random,
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

/** A user of the page. `type` pastes long plain text; `keyboard` always presses each key. */
function createUser() {
  // Without style sheets no element can have `pointer-events: none`.
  const user = userEvent.setup({ advanceTimers: advance, pointerEventsCheck: PointerEventsCheckLevel.Never })
  const type: typeof user.type = async (element, text, options) => {
    if (text.length < PASTED_FROM || /[{[]/.test(text) || options) return user.type(element, text, options)
    await user.click(element)
    await user.paste(text)
  }
  return { ...user, type }
}

/** Lets user-event wait with the real or the fake clock of the test. */
function advance(milliseconds: number) {
  if ('clock' in setTimeout) jest.advanceTimersByTime(milliseconds)
}
