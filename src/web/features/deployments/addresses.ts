export const configurationAddress = (name: string) => `/deployments/${encodeURIComponent(name)}/edit`

export const filesAddress = (dataDirectory: string) =>
  `/files${dataDirectory.replace(/^\/*/, '/').split('/').map(encodeURIComponent).join('/')}`

export const instanceAddress = (name: string, uid: string) =>
  `/instance/${encodeURIComponent(name)}/${encodeURIComponent(uid)}`
