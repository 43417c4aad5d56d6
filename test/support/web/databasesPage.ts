import { screen, within } from '@testing-library/react'
import { databaseOf } from './factories'
import { renderApp } from './renderApp'

type Lists = { sql?: unknown[]; mongo?: unknown[] }

/** Renders the databases page with these databases, and returns the actions of a test on it. */
export function renderDatabases({ sql = [databaseOf('shop')], mongo = [databaseOf('logs')] }: Lists = {}) {
  // jsdom has no layout to scroll.
  const scrolled = jest.fn()
  Element.prototype.scrollIntoView = scrolled
  const app = renderApp('/databases', { signedInAs: 'ann' })
  const lists = {
    sql: app.network.get('/api/database/sql').answers({ databases: sql }),
    mongo: app.network.get('/api/database/mongo').answers({ databases: mongo }),
  }
  const clipboard = jest.spyOn(navigator.clipboard, 'writeText')
  const card = (name: string) => screen.findByRole('article', { name })
  const open = async (name: string) => {
    await app.user.click(within(await card(name)).getByRole('button', { name }))
    return card(name)
  }
  return {
    ...app,
    lists,
    copied: () => clipboard.mock.lastCall?.[0],
    scrolled,
    card,
    open,
    section: (name: string) => screen.findByRole('region', { name }),
  }
}

/** The credentials in a card's panel, by their terms. */
export function credentialsIn(card: HTMLElement) {
  const terms = within(card).getAllByRole('term')
  return Object.fromEntries(
    terms.map((term) => [term.textContent, term.nextElementSibling?.querySelector('code, span')?.textContent]),
  )
}
