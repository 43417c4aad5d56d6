import type { Browser, Page } from 'playwright-core'

/** A tab with nothing between it and the browser. */
export interface BareTab {
  /** The value of an expression, as JSON has it. */
  evaluate(expression: string): Promise<unknown>
  /** Makes it the one that is seen; the others of its window are hidden by that. */
  activate(): Promise<void>
}

/**
 * Opens tabs of one window, with the session of a page. The tabs of a test are otherwise kept visible and focused,
 * whatever is in front of them; these are hidden and shown as those of a user.
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
