import { createRoot } from 'react-dom/client'
import { Provider } from 'react-redux'
import type { AppStore } from '../app/store'
import { notified } from '../facts'
import { Toasts } from '../features/notifications/Toasts'

/** Shows a notification on any page. The sign-in page does not render notifications, so they are rendered here. */
export function showNotification(store: AppStore, message: string) {
  store.dispatch(notified('info', message))
  if (document.querySelector('[role="region"][aria-label="Notifications"]')) return
  const place = document.body.appendChild(document.createElement('div'))
  const root = createRoot(place)
  root.render(
    <Provider store={store}>
      <Toasts />
    </Provider>,
  )
  const stop = store.subscribe(() => {
    const { notifications, session } = store.getState()
    // With a session, the page renders the notifications.
    if (notifications.length > 0 && !session.current) return
    stop()
    queueMicrotask(() => {
      root.unmount()
      place.remove()
    })
  })
}
