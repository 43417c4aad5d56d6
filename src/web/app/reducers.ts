import { api } from '../api/api'
import { loginSlice } from '../features/auth/loginSlice'
import { sessionSlice } from '../features/auth/sessionSlice'
import { notificationsSlice } from '../features/notifications/notificationsSlice'
import { realtimeSlice } from '../sockets/realtimeSlice'
import { routeSlice } from './routeSlice'
import { themeSlice } from './themeSlice'

/** The reducers that the login page loads. Other pages add theirs (part.ts). */
export const reducers = {
  [api.reducerPath]: api.reducer,
  login: loginSlice.reducer,
  notifications: notificationsSlice.reducer,
  realtime: realtimeSlice.reducer,
  route: routeSlice.reducer,
  session: sessionSlice.reducer,
  theme: themeSlice.reducer,
}
