import type { Page } from 'playwright-core'

/** Calls the API with the page's own session. @returns the response's `data`. */
export async function call(page: Page, method: string, path: string, body?: unknown): Promise<Record<string, unknown>> {
  const token = (await page.context().cookies()).find(({ name }) => name === 'token')?.value
  const answer = await page.request.fetch(`/api${path}`, {
    method,
    data: body,
    headers: { authorization: `Bearer ${token}` },
  })
  const { data, message } = (await answer.json()) as { data: Record<string, unknown>; message?: string }
  if (!answer.ok()) throw new Error(`${method} ${path}: ${message}`)
  return data
}
