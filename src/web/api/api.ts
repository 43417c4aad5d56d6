import { createApi } from '@reduxjs/toolkit/query/react'
import { baseQuery } from './baseQuery'

/** The one api. Each resource injects its calls from its own file. */
export const api = createApi({
  baseQuery,
  tagTypes: ['Deployment', 'Files', 'Instance'],
  // Who was offline sees what is there now, and failures of then are tried again.
  refetchOnReconnect: true,
  // The default waits until no call at all is on its way, and a restart may be for minutes.
  invalidationBehavior: 'immediately',
  endpoints: () => ({}),
})
