import { PeersAnswer, PeersQuery } from '../../contract/discovery'
import type { Discovery } from '../deployments/discovery'
import { done } from './envelope'
import type { Router } from './router'

export function discoveryRoutes(app: Router, discovery: Pick<Discovery, 'peersOf'>): void {
  app.get(
    '/api/discovery',
    { config: { access: 'user' }, schema: { querystring: PeersQuery, response: { 200: PeersAnswer } } },
    async ({ query }) => done(await discovery.peersOf(query.deployment)),
  )
}
