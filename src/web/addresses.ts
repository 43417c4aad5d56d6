/** Addresses of pages, as the router has them. */

export const configurationAddress = (deployment: string) => `/deployments/${encodeURIComponent(deployment)}/edit`

export const instanceAddress = (deployment: string, uid: string) =>
  `/instance/${encodeURIComponent(deployment)}/${encodeURIComponent(uid)}`

/** @param directory below the shared root, such as `/lobby/plugins` */
export const filesAddress = (directory: string) =>
  `/files${directory.replace(/^\/*/, '/').split('/').map(encodeURIComponent).join('/')}`

export const userAddress = (id: number | string) => `/admin/users/${encodeURIComponent(id)}`

/** @param uids of the instances whose consoles are shown side by side */
export const consolesAddress = (uids: readonly string[]) =>
  `/consoles${uids.map((uid, index) => `${index === 0 ? '?' : '&'}instances=${encodeURIComponent(uid)}`).join('')}`
