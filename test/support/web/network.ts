import { http, HttpResponse } from 'msw'
import { setupServer } from 'msw/node'

const server = setupServer()
beforeAll(() => server.listen({ onUnhandledRequest: 'error' }))
afterEach(() => server.resetHandlers())
afterAll(() => server.close())

type Call = { body: unknown; authorization: string | null }
type Answer = () => Response | Promise<Response>

/** What a call answers from now on; the newest word counts. Keeps the calls that were made. */
function route(method: 'get' | 'post', path: string) {
  const calls: Call[] = []
  const reply = (answer: Answer) => {
    server.use(
      http[method](`${window.location.origin}${path}`, async ({ request }) => {
        const text = await request.text()
        calls.push({ body: text ? JSON.parse(text) : undefined, authorization: request.headers.get('authorization') })
        return answer()
      }),
    )
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
    answersWith: (answer: Answer) => reply(answer),
    answersRaw: (status: number, text: string) => reply(() => new HttpResponse(text, { status })),
    isUnreachable: () => reply(() => HttpResponse.error()),
    /** Waits with the answer until `release`. */
    answersLater: (data: object) => {
      let release = () => {}
      const released = new Promise<void>((resolve) => {
        release = resolve
      })
      const { calls } = reply(async () => {
        await released
        return HttpResponse.json({ success: true, data })
      })
      return { calls, release: () => release() }
    },
  }
}

export const network = {
  get: (path: string) => route('get', path),
  post: (path: string) => route('post', path),

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
