import { rootReducer } from '../../app/rootReducer'
// The api reducer needs the definitions of all endpoints.
import '../../api/endpoints'
// Each of these injects its slice.
import '../../app/palette/paletteSlice'
import '../../app/routing/navigationSlice'
import '../../app/versionSlice'
import '../../drafts/draftsSlice'
import '../../features/account/accountSlice'
import '../../features/account/keys/keysSlice'
import '../../features/account/security/securitySlice'
import '../../features/admin/adminSlice'
import '../../features/auth/registrationSlice'
import '../../features/databases/databasesSlice'
import '../../features/deployments/configuration/configurationSlice'
import '../../features/deployments/deploymentsSlice'
import '../../features/files/archiveJobsSlice'
import '../../features/files/filesSlice'
import '../../features/files/selectionSlice'
import '../../features/files/uploads/uploadSlice'
import '../../features/instance/consoles/consolesSlice'
import '../../features/instance/instanceSlice'
import '../../features/overview/overviewSlice'
import '../../features/problems/problemsSlice'
import '../../sockets/consoleSlice'
import type { RootReducer } from './steps'

/** The reducer of the console with the slices of all pages. */
export const replayReducer = rootReducer as unknown as RootReducer
