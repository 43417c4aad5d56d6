import { createApi } from '@reduxjs/toolkit/query/react'
import { baseQuery } from './baseQuery'

/** The one api. Each resource injects its calls from its own file. */
export const api = createApi({
  baseQuery,
  tagTypes: ['Deployment', 'Instance'],
  endpoints: () => ({}),
})
