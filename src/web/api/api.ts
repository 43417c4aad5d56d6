import { createApi } from '@reduxjs/toolkit/query/react'
import { badResponse } from '../failure'
import { baseQuery } from './transport/baseQuery'

/** The only `createApi`. Each resource injects its endpoints from a file of its own. */
export const api = createApi({
  baseQuery,
  tagTypes: ['Deployment', 'Files', 'Instance'],
  // After an outage, shown data is refetched and failed queries are retried.
  refetchOnReconnect: true,
  // The default ('delayed') waits until no call is pending, and a restart may be pending for hours.
  invalidationBehavior: 'immediately',
  catchSchemaFailure: () => badResponse,
  endpoints: () => ({}),
})
