import type { Middleware, Reducer } from '@reduxjs/toolkit'
import type { DraftsState } from '../../drafts/draftsSlice'
import type { AccountState } from '../../features/account/accountSlice'
import type { AdminState } from '../../features/admin/adminSlice'
import type { DatabasesViewState } from '../../features/databases/databasesSlice'
import type { RegistrationState } from '../../features/auth/registrationSlice'
import type { ConfigurationState } from '../../features/deployments/configuration/configurationSlice'
import type { DeploymentsState } from '../../features/deployments/deploymentsSlice'
import type { FilesState } from '../../features/files/filesSlice'
import type { SelectionState } from '../../features/files/selectionSlice'
import type { SendUpload } from '../../features/files/uploads/sendUpload'
import type { UploadsState } from '../../features/files/uploads/uploadSlice'
import type { ArchiveJobsState } from '../../features/files/archiveJobsSlice'
import type { InstanceViewState } from '../../features/instance/instanceSlice'
import type { OverviewState } from '../../features/overview/overviewSlice'
import type { ProblemsState } from '../../features/problems/problemsSlice'
import type { ConnectConsole } from '../../sockets/reconnectingConsole'
import type { ConsoleState } from '../../sockets/consoleSlice'
import type { NavigationState } from '../navigationSlice'
import type { AppStore, Services } from '../types'
import type { VersionState } from '../versionSlice'

/** State that pages add. Each slice is undefined until a page that needs it has loaded. */
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
  works: ArchiveJobsState
}

/** Everything outside the store that middleware may use. */
export type Outside = Services & {
  // If these are missing, the pages bring their own, so that the login page does not have to load them.
  connectConsole?: ConnectConsole
  sendUpload?: SendUpload
}

/**
 * What a page adds to the store when its chunk loads, to keep the login page small. All parts are listed in parts.ts,
 * where replay finds the reducers.
 */
export type Part<Name extends keyof LateState = keyof LateState> = {
  reducers: { [Each in Name]: Reducer<LateState[Each]> }
  /** Runs after the api's middleware and before the real-time socket's, inside that of earlier parts. */
  middleware?: (outside: Outside) => Middleware
  /** Called once when the part is added: starts listeners and reads stored values. */
  begin?: (store: Pick<AppStore, 'dispatch' | 'getState'>) => void
}
