import type { ActivityResponse, ActivityEntry, ActivityKind } from '../../contract/admin'
import { api } from './api'
import type { DataOf } from './transport/dataSchema'
import { dataSchema, listIn } from './transport/dataSchema'

type ActivityFilter = { kind?: ActivityKind; username?: string; hours?: number; search?: string }
type ActivityPage = { entries: ActivityEntry[]; hasMore: boolean }

function activityUrl({
  queryArg: { kind, username, hours, search },
  pageParam,
}: {
  queryArg: ActivityFilter
  pageParam: number | null
}) {
  const asked = new URLSearchParams({
    ...(pageParam !== null && { before: String(pageParam) }),
    ...(kind && { kind }),
    ...(username && { username }),
    ...(hours !== undefined && { hours: String(hours) }),
    ...(search && { search }),
  }).toString()
  return asked ? `activity?${asked}` : 'activity'
}

export const activityApi = api.injectEndpoints({
  endpoints: (build) => ({
    /** Only our platform has this call. The cursor of a page is the last id of the page before. */
    getActivity: build.infiniteQuery<ActivityPage, ActivityFilter, number | null>({
      infiniteQueryOptions: {
        initialPageParam: null,
        getNextPageParam: ({ entries, hasMore }) => (hasMore ? entries.at(-1)?.id : undefined),
      },
      query: activityUrl,
      responseSchema: dataSchema((page: DataOf<ActivityResponse>) =>
        listIn(page.entries) ? (page as ActivityPage) : undefined,
      ),
    }),
  }),
})

export const { useGetActivityInfiniteQuery } = activityApi
