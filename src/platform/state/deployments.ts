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
export async function insertDeployment(db: Db, deployment: Pick<DeploymentRow, 'name' | 'type' | 'content' | 'enabled'>): Promise<void> {
  await db.insertInto('deployments').values(deployment).execute()
}

/** @returns false when there is no such deployment, or it is being deleted. */
export async function updateDeployment(db: Db, name: string, change: Partial<Pick<DeploymentRow, 'content' | 'enabled' | 'deleting'>>): Promise<boolean> {
  const { numUpdatedRows } = await db.updateTable('deployments').set(change).where('name', '=', name).where('deleting', '=', false).executeTakeFirst()
  return numUpdatedRows === 1n
}

/** With its instances' rows. */
export async function deleteDeployment(db: Db, name: string): Promise<void> {
  await db.deleteFrom('deployments').where('name', '=', name).execute()
}
