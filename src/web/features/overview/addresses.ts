export const filesAddress = (dataDirectory: string) =>
  `/files${dataDirectory.replace(/^\/*/, '/').split('/').map(encodeURIComponent).join('/')}`

export const configurationAddress = (deployment: string) => `/deployments/${encodeURIComponent(deployment)}/edit`

export const instanceAddress = (deployment: string, uid: string) =>
  `/instance/${encodeURIComponent(deployment)}/${encodeURIComponent(uid)}`
