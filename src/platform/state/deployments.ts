import type { Selectable } from 'kysely'
import type { Db } from './db'
import type { State } from './schema'

export type DeploymentRow = Selectable<State['deployments']>

/** By name. */
export async function listDeployments(db: Db): Promise<DeploymentRow[]> {
  return db.selectFrom('deployments').selectAll().orderBy('name').execute()
}

export async function findDeployment(db: Db, name: string): Promise<DeploymentRow | undefined> {
  return db.selectFrom('deployments').selectAll().where('name', '=', name).executeTakeFirst()
}

/** @throws the database's duplicate error (see isDuplicate) when the name, or the one proxy's place, is taken. */
export async function insertDeployment(
  db: Db,
  deployment: Pick<DeploymentRow, 'name' | 'type' | 'content' | 'enabled'> &
    Partial<Pick<DeploymentRow, 'directory_seen'>>,
): Promise<void> {
  await db.insertInto('deployments').values(deployment).execute()
}

/**
 * @param from the text that must be stored for anything to be changed
 * @returns false when there is no such deployment, it is being deleted, or holds another text
 */
export async function updateDeployment(
  db: Db,
  name: string,
  change: Partial<Pick<DeploymentRow, 'content' | 'enabled' | 'deleting' | 'directory_seen'>>,
  from?: string,
): Promise<boolean> {
  const update = db.updateTable('deployments').set(change).where('name', '=', name).where('deleting', '=', false)
  const { numUpdatedRows } = await (from === undefined ? update : update.where('content', '=', from)).executeTakeFirst()
  return numUpdatedRows === 1n
}

/** That its directory was there, as its definition names it. */
export async function setDirectorySeen(db: Db, name: string, dataDirectory: string): Promise<void> {
  await db.updateTable('deployments').set({ directory_seen: dataDirectory }).where('name', '=', name).execute()
}

/** With its instances' rows. */
export async function deleteDeployment(db: Db, name: string): Promise<void> {
  await db.deleteFrom('deployments').where('name', '=', name).execute()
}
