import type { Browser, Page } from 'playwright-core'

/** A tab that Playwright does not manage. */
export interface BareTab {
  /** Evaluates an expression and returns its value as JSON. */
  evaluate(expression: string): Promise<unknown>
  /** Brings the tab to the front, which hides the other tabs of its window. */
  activate(): Promise<void>
}

/**
 * Opens tabs of one window with the session of a page. Playwright keeps its own tabs visible and focused even behind
 * others; these are hidden and shown as in a user's browser.
 */
export async function bareWindow(page: Page): Promise<(url: string) => Promise<BareTab>> {
  const browser = page.context().browser() as Browser
  const devtools = await browser.newBrowserCDPSession()
  const { browserContextId } = await devtools.send('Target.createBrowserContext')
  const cookies = (await page.context().cookies()).map(({ name, value, domain, path }) => ({
    name,
    value,
    domain,
    path,
  }))
  await devtools.send('Storage.setCookies', { cookies, browserContextId })

  return async (url) => {
    const { targetId } = await devtools.send('Target.createTarget', { url, browserContextId })
    const { sessionId } = await devtools.send('Target.attachToTarget', { targetId, flatten: false })
    const waiting = new Map<number, (answer: Answer) => void>()
    devtools.on('Target.receivedMessageFromTarget', ({ sessionId: from, message }) => {
      const answer = JSON.parse(message) as Answer
      if (from === sessionId) waiting.get(answer.id)?.(answer)
    })
    let sent = 0
    return {
      async evaluate(expression) {
        const id = ++sent
        const answer = new Promise<Answer>((resolve) => waiting.set(id, resolve))
        const message = { id, method: 'Runtime.evaluate', params: { expression, returnByValue: true } }
        await devtools.send('Target.sendMessageToTarget', { sessionId, message: JSON.stringify(message) })
        return (await answer).result?.result.value
      },
      activate: async () => void (await devtools.send('Target.activateTarget', { targetId })),
    }
  }
}

interface Answer {
  id: number
  result?: { result: { value?: unknown } }
}
