import { screen, waitFor } from '@testing-library/react'
import { entryOf } from './factories'
import { filesPage } from './filesPage'

/**
 * Records the links that are clicked instead of following them, and silences warnings of the problem log.
 * @returns the followed links of the current test
 */
export function recordFollowedLinks(): () => { href: string; name: string }[] {
  let followed: { href: string; name: string }[] = []
  beforeEach(() => {
    followed = []
    jest.spyOn(console, 'warn').mockImplementation(() => {})
    jest.spyOn(HTMLAnchorElement.prototype, 'click').mockImplementation(function (this: HTMLAnchorElement) {
      followed.push({ href: this.getAttribute('href') ?? '', name: this.download })
    })
  })
  afterEach(() => jest.restoreAllMocks())
  return () => followed
}

export type Page = Awaited<ReturnType<typeof filesPage>>

/** Renders the Files page with the files a, b, c, d and e. */
export const five = () => filesPage(['a', 'b', 'c', 'd', 'e'].map((name) => entryOf(name)))

/** Chooses an action in the menu of a row. */
export async function menu(user: { click: (element: Element) => Promise<void> }, name: string, action: string) {
  await user.click(screen.getByRole('button', { name: `Actions for ${name}` }))
  await user.click(await screen.findByRole('menuitem', { name: action }))
}

/** Resolves when no dialog is open. */
export const closed = () => waitFor(() => expect(screen.queryByRole('dialog')).not.toBeInTheDocument())

/** The paths in the queries of calls, sorted. */
export const paths = (calls: { query: string }[]) =>
  calls.map(({ query }) => new URLSearchParams(query).get('path')).sort()
