import { http, HttpResponse } from 'msw'
import { setupServer } from 'msw/node'

type Call = { body: unknown; query: string; authorization: string | null }
type Answer = (request: Request) => Response | Promise<Response>
type Prepared = { answer: Answer; calls: Call[] }

/** By method and path. Looked up when the response is due, so that a test may render first and prepare later. */
const prepared = new Map<string, Prepared>()

const server = setupServer(
  http.all('*', async ({ request }) => {
    const route = `${request.method} ${new URL(request.url).pathname}`
    const found = prepared.get(route)
    if (!found) {
      console.error(`No test prepared a response for ${route}`)
      return new HttpResponse(null, { status: 501 })
    }
    const text = await request.text()
    found.calls.push({
      body: text ? JSON.parse(text) : undefined,
      query: new URL(request.url).search,
      authorization: request.headers.get('authorization'),
    })
    return found.answer(request)
  }),
)
/** What every page asks for: Layout (as by a server that does not limit users), the user menu, and the login page. */
beforeEach(() => {
  route('GET', '/api/account').answers({ role: 'operator', grants: [] })
  route('GET', '/api/account/methods').answers({ passkeys: [], authenticators: [], recoveryCodes: 0 })
  route('GET', '/api/auth/methods').answers({ passkeys: false })
})
beforeAll(() => server.listen({ onUnhandledRequest: 'error' }))
afterEach(() => prepared.clear())
afterAll(() => server.close())

/** Sets the response to a call from now on; the last one set wins. Records the calls. */
function route(method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE', path: string) {
  const reply = (answer: Answer) => {
    const calls: Call[] = []
    prepared.set(`${method} ${path}`, { answer, calls })
    return { calls }
  }
  return {
    /** `answers({…})` succeeds with this data, `answers(503, {…})` fails with this body. */
    answers: (data: object | number, body: object = {}) =>
      reply(() =>
        typeof data === 'number'
          ? HttpResponse.json({ success: false, ...body }, { status: data })
          : HttpResponse.json({ success: true, data }),
      ),
    /** Responds like a server with versions: a client that has this version gets no data. */
    answersVersion: (version: string, data: object) =>
      reply(({ headers }) =>
        headers.get('if-none-match') === version
          ? new HttpResponse(null, { status: 304, headers: { etag: version } })
          : HttpResponse.json({ success: true, data }, { headers: { etag: version } }),
      ),
    answersWith: (answer: Answer) => reply(answer),
    answersRaw: (status: number, text: string) => reply(() => new HttpResponse(text, { status })),
    isUnreachable: () => reply(() => HttpResponse.error()),
    /** Delays the response until `release`; a number fails with that status. */
    answersLater: (data: object | number, failure: object = {}) => {
      let release = () => {}
      const released = new Promise<void>((resolve) => {
        release = resolve
      })
      const { calls } = reply(async () => {
        await released
        return typeof data === 'number'
          ? HttpResponse.json({ success: false, ...failure }, { status: data })
          : HttpResponse.json({ success: true, data })
      })
      return { calls, release: () => release() }
    },
  }
}

export const network = {
  get: (path: string) => route('GET', path),
  post: (path: string) => route('POST', path),
  put: (path: string) => route('PUT', path),
  patch: (path: string) => route('PATCH', path),
  delete: (path: string) => route('DELETE', path),

  /** A network as the overview shows it: deployments with their instances, and a manager that is alive. */
  shows(sections: { deployment: { name: string }; instances?: object[] }[], { timestamp = Date.now() } = {}) {
    const heartbeat = network.get('/api/network/getManagerTimestamp').answers({ timestamp })
    network.get('/api/deployments').answers({ deployments: sections.map(({ deployment }) => deployment) })
    for (const { deployment, instances = [] } of sections) {
      network.get(`/api/deployments/${deployment.name}/instances`).answers({ instances })
    }
    return heartbeat
  },
}
