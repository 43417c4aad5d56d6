/** Addresses of pages, as the router sees them. */

import type { Instance } from '../contract/instance'

/** The maximum number of consoles on one page: one in each pane (sockets/panes.ts). */
export const MAX_CONSOLES = 4

export const configurationAddress = (deployment: string) => `/deployments/${encodeURIComponent(deployment)}/edit`

export const instanceAddress = (deployment: string, uid: string) =>
  `/instance/${encodeURIComponent(deployment)}/${encodeURIComponent(uid)}`

/** @param directory below the shared root, such as `/lobby/plugins` */
export const filesAddress = (directory: string) =>
  `/files${directory.replace(/^\/*/, '/').split('/').map(encodeURIComponent).join('/')}`

export const userAddress = (id: number | string) => `/admin/users/${encodeURIComponent(id)}`

/** @param uids the uids of the instances whose consoles are shown side by side */
export const consolesAddress = (uids: readonly string[]) =>
  `/consoles${uids.map((uid, index) => `${index === 0 ? '?' : '&'}instances=${encodeURIComponent(uid)}`).join('')}`

/** Returns the page with the consoles of a deployment's first instances, running ones first. */
export function deploymentConsolesAddress(instances: readonly Pick<Instance, 'uid' | 'state'>[]): string {
  const running = instances.filter(({ state }) => state === 'RUNNING')
  const others = instances.filter(({ state }) => state !== 'RUNNING')
  return consolesAddress([...running, ...others].slice(0, MAX_CONSOLES).map(({ uid }) => uid))
}
