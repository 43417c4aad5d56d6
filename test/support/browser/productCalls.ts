import { registerAccount } from '../platform/registerAccount'
import type { Product } from './startProduct'

/**
 * @returns the data of the response. @param path below `/api/`. @param url of another replica. @throws Error if the
 * call fails
 */
export type ProductCall = <Data = Record<string, unknown>>(
  method: string,
  path: string,
  body?: unknown,
  url?: string,
) => Promise<Data>

/** Registers the first administrator. @returns calls with the session of that account, and the session's token */
export async function signUpByCalls(
  { url, inviteCode }: Pick<Product, 'url' | 'inviteCode'>,
  timeoutMs = 60_000,
): Promise<{ call: ProductCall; token: string }> {
  let session = ''
  const call: ProductCall = async <Data>(method: string, path: string, body?: unknown, at = url) => {
    const answer = await fetch(`${at}/api/${path}`, {
      method,
      headers: {
        ...(session && { authorization: `Bearer ${session}` }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
      },
      signal: AbortSignal.timeout(timeoutMs),
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    const { data, message } = (await answer.json()) as { data: Data; message?: string }
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${message}`)
    return data
  }
  const account = { username: 'bench', password: 'correct horse battery' }
  const { token } = await registerAccount((path, body) => call('POST', `auth/${path}`, body), inviteCode, account)
  session = token
  return { call, token }
}

/** Creates an enabled deployment. @param lines of its definition, besides name, type and directory */
export async function createEnabled(
  call: ProductCall,
  name: string,
  type: 'persistent' | 'scalable',
  lines: string,
  node?: string,
): Promise<void> {
  await call('POST', 'deployments', { name, type, ...(node !== undefined && { node }) })
  const placed = node === undefined ? '' : `node: ${node}\n`
  const content = `name: ${name}\ntype: ${type}\ndataDirectory: /${name}\n${placed}run: { command: [run], port: 25565 }\n${lines}`
  await call('PATCH', `deployments/${name}`, { content })
  await call('POST', `deployments/${name}/toggle`, { enabled: true })
}

export type Overview = { name: string; instances: { podName: string; state: string }[] }[]

/** All deployments with their instances, as the overview page requests them. */
export async function overviewOf(call: ProductCall, url?: string): Promise<Overview> {
  return (await call<{ deployments: Overview }>('GET', 'deployments?instances=true', undefined, url)).deployments
}
