import { sql, type Selectable } from 'kysely'
import { lockInviteGrants, removeFromInvites } from '../accounts/invites'
import type { Db } from '../db'
import type { State } from '../schema'
import { resetInstances } from './instances'

export type DeploymentRow = Selectable<State['deployments']>

/** What a change of a deployment was made from. */
export interface DeploymentBefore {
  type?: string | undefined
  content?: string | undefined
}

/** Sorted by name. */
export async function listDeployments(db: Db): Promise<DeploymentRow[]> {
  return db.selectFrom('deployments').selectAll().orderBy('name').execute()
}

export async function findDeployment(db: Db, name: string): Promise<DeploymentRow | undefined> {
  return db.selectFrom('deployments').selectAll().where('name', '=', name).executeTakeFirst()
}

/** In any order. Names without a deployment are ignored. */
export async function findDeployments(db: Db, names: string[]): Promise<DeploymentRow[]> {
  return db
    .selectFrom('deployments')
    .selectAll()
    .where('name', '=', sql<string>`any(${names})`)
    .execute()
}

/** @throws the database's duplicate error (see isDuplicate) when the name is taken or there is a proxy already */
export async function insertDeployment(
  db: Db,
  deployment: Pick<DeploymentRow, 'name' | 'type' | 'content' | 'enabled'> &
    Partial<Pick<DeploymentRow, 'directory_seen'>>,
): Promise<void> {
  await db.insertInto('deployments').values(deployment).execute()
}

/**
 * @param from updates only a deployment of this type and with this text, where given
 * @returns false if the deployment does not exist, is being deleted or has another type or text
 */
export async function updateDeployment(
  db: Db,
  name: string,
  change: Partial<Pick<DeploymentRow, 'content' | 'deleting' | 'directory_seen' | 'directory_mounted'>> & {
    enabled?: false
  },
  from: DeploymentBefore = {},
): Promise<boolean> {
  let update = db.updateTable('deployments').set(change).where('name', '=', name).where('deleting', '=', false)
  for (const column of ['type', 'content'] as const) {
    const before = from[column]
    if (before !== undefined) update = update.where(column, '=', before)
  }
  const { numUpdatedRows } = await update.executeTakeFirst()
  return numUpdatedRows === 1n
}

/**
 * Enables a deployment that is not being deleted. If it was disabled, also resets its instances (see
 * `resetInstances`). The manager cannot do this, because it may have missed that the deployment was disabled.
 * @returns false if the deployment does not exist or is being deleted
 */
export async function enableDeployment(db: Db, name: string): Promise<boolean> {
  return db.transaction().execute(async (transaction) => {
    const row = await transaction
      .selectFrom('deployments')
      .select('enabled')
      .where('name', '=', name)
      .where('deleting', '=', false)
      .forUpdate()
      .executeTakeFirst()
    if (!row || row.enabled) return row !== undefined
    await transaction.updateTable('deployments').set({ enabled: true }).where('name', '=', name).execute()
    await resetInstances(transaction, name)
    return true
  })
}

/** Records that the directory of its definition exists. @param mounted whether it is a mount within the shared area */
export async function setDirectorySeen(db: Db, name: string, dataDirectory: string, mounted: boolean): Promise<void> {
  await db
    .updateTable('deployments')
    .set({ directory_seen: dataDirectory, directory_mounted: mounted })
    .where('name', '=', name)
    .execute()
}

/** Records which directories of a deployment's `mounts` are mounts within the shared area. */
export async function setMountsMounted(db: Db, name: string, mounted: string[]): Promise<void> {
  await db.updateTable('deployments').set({ mounts_mounted: mounted }).where('name', '=', name).execute()
}

/** Also deletes the rows of its instances, and its grants, those of unused invites included. */
export async function deleteDeployment(db: Db, name: string): Promise<void> {
  await db.transaction().execute(async (transaction) => {
    // With this lock, either a concurrent invite is visible here, or its creation finds no deployment.
    await lockInviteGrants(transaction)
    // Locks the invites before the deployments, in the same order as a registration.
    await removeFromInvites(transaction, name)
    await transaction.deleteFrom('deployments').where('name', '=', name).execute()
  })
}
