import type { Middleware, Reducer } from '@reduxjs/toolkit'
import type { DraftsState } from '../drafts/draftsSlice'
import type { AccountState } from '../features/account/accountSlice'
import type { AdminState } from '../features/admin/adminSlice'
import type { DatabasesViewState } from '../features/databases/databasesSlice'
import type { RegistrationState } from '../features/auth/registrationSlice'
import type { ConfigurationState } from '../features/deployments/configurationSlice'
import type { DeploymentsState } from '../features/deployments/deploymentsSlice'
import type { FilesState } from '../features/files/filesSlice'
import type { SelectionState } from '../features/files/selectionSlice'
import type { SendUpload } from '../features/files/uploads/sendUpload'
import type { UploadsState } from '../features/files/uploads/uploadSlice'
import type { WorksState } from '../features/files/worksSlice'
import type { InstanceViewState } from '../features/instance/instanceSlice'
import type { OverviewState } from '../features/overview/overviewSlice'
import type { ProblemsState } from '../features/problems/problemsSlice'
import type { ConnectConsole } from '../sockets/consoleLink'
import type { ConsoleState } from '../sockets/consoleSlice'
import type { NavigationState } from './navigationSlice'
import type { AppStore, Services } from './types'
import type { VersionState } from './versionSlice'

/** The state that comes with pages. Absent until the first of them that needs it has loaded. */
export type LateState = {
  account: AccountState
  admin: AdminState
  configuration: ConfigurationState
  console: ConsoleState
  databases: DatabasesViewState
  deployments: DeploymentsState
  drafts: DraftsState
  files: FilesState
  instance: InstanceViewState
  navigation: NavigationState
  overview: OverviewState
  problems: ProblemsState
  registration: RegistrationState
  selection: SelectionState
  uploads: UploadsState
  version: VersionState
  works: WorksState
}

/** Everything outside the store that a middleware may hold on to. */
export type Outside = Services & {
  // Without these, the pages that need them bring their own: the first page need not carry them.
  connectConsole?: ConnectConsole
  sendUpload?: SendUpload
}

/**
 * What a page adds to the store when it loads, and the first page therefore does not carry. All of it is listed in
 * parts.ts, where replay finds the reducers.
 */
export type Part<Name extends keyof LateState = keyof LateState> = {
  reducers: { [Each in Name]: Reducer<LateState[Each]> }
  /** Sits between the api's middleware and the real-time socket's, inside that of earlier parts. */
  middleware?: (outside: Outside) => Middleware
  /** Once, when the part was added: listeners, and what was stored. */
  begin?: (store: Pick<AppStore, 'dispatch' | 'getState'>) => void
}
