import { Client } from 'pg'

/** Connects to a server that may end the connection at any time. */
export async function connectClient(url: string): Promise<Client> {
  const client = new Client({ connectionString: url })
  client.on('error', () => undefined)
  await client.connect()
  return client
}

/** Connects to a server, and disconnects after `work`. */
export async function withClient<Result>(url: string, work: (client: Client) => Promise<Result>): Promise<Result> {
  const client = await connectClient(url)
  return work(client).finally(() => client.end())
}

export const canConnect = (url: string): Promise<boolean> => withClient(url, async () => true).catch(() => false)
