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
export async function insertDeployment(db: Db, deployment: Omit<DeploymentRow, 'created_at'>): Promise<void> {
  await db.insertInto('deployments').values(deployment).execute()
}
