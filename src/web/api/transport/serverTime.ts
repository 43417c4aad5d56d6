import type { Services } from '../../app/services'
import { api } from '../api'
import { clockProblem } from './clockProblem'

export const { useGetClockProblemQuery } = api.injectEndpoints({
  endpoints: (build) => ({
    /** Null if the clocks agree or the server sends no Date header. */
    getClockProblem: build.query<string | null, void>({
      async queryFn(_arg, { extra }, _options, request) {
        const { meta } = await request('health')
        return { data: clockProblem(meta?.date, (extra as Services).now()) ?? null }
      },
    }),
  }),
})
