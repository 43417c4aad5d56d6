import type { Rule } from './rule'
import { each, fields } from './rule'

/**
 * The redaction rules for the action log and for Redux DevTools.
 *
 * Values without a rule are masked and keep only their shape. A test requires an entry for every endpoint and action.
 * Everyone who reads a bug report can see values with the rule `keep`.
 */

/** `message` is the rule for messages of failures; by default they are kept, except for masked arguments. */
export type CallRules = { args: Rule; result: Rule; message?: Rule }

const keepBoth: CallRules = { args: 'keep', result: 'keep' }
const keepNothing: CallRules = { args: 'mask', result: 'mask' }

/** An empty image. The page would request a masked URL from the server. */
const NO_PICTURE =
  "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' width='184' height='184'%3E%3Crect width='184' height='184' fill='%23bbb'/%3E%3C/svg%3E"

/** The rules for calls, by endpoint. Failures are kept, but masked arguments are hidden in them. */
export const callRules: Record<string, CallRules> = {
  // A password may have been typed as the username. The username of a successful sign-in is in the session.
  login: { args: 'mask', result: 'keep' },
  verifyLogin: keepNothing,
  signInWithPasskey: { args: 'keep', result: 'mask' },
  verifyRecoveryCode: keepNothing,
  verifyInvite: keepNothing,
  register: { args: 'mask', result: fields({ qrCode: { instead: NO_PICTURE } }) },
  verifyRegistration: { args: 'mask', result: 'keep' },
  logout: keepBoth,
  getSignInMethods: keepBoth,
  getClockProblem: keepBoth,

  getAccount: keepBoth,
  getOwnSessions: keepBoth,
  endSession: keepBoth,
  endOtherSessions: keepBoth,
  changePassword: { args: 'mask', result: 'keep' },

  getApiKeys: { args: 'keep', result: each(apiKey()) },
  // `text` is a handle: the key never enters the store (api/heldTexts.ts).
  createApiKey: { args: 'keep', result: fields({ info: apiKey(), text: 'keep' }) },
  deleteApiKey: keepBoth,

  // Proofs of identity are masked. `text` is a handle, because secrets that are shown once never enter the store. Names
  // of methods are kept like other typed names, because a masked value would count as a secret everywhere.
  getOwnMethods: keepBoth,
  renameMethod: keepBoth,
  removeMethod: { args: fields({ table: 'keep', id: 'keep' }), result: 'keep' },
  beginAuthenticator: { args: 'mask', result: 'keep' },
  confirmAuthenticator: { args: fields({ name: 'keep' }), result: 'keep' },
  beginPasskey: { args: 'mask', result: 'keep' },
  createPasskey: { args: fields({ name: 'keep' }), result: 'keep' },
  createRecoveryCodes: { args: 'mask', result: 'keep' },
  getOpenIdConnection: keepBoth,
  connectOpenId: { args: 'mask', result: 'keep' },
  disconnectOpenId: keepBoth,

  getUsers: keepBoth,
  setAdmin: keepBoth,
  setPassword: { args: fields({ id: 'keep', endOtherAccess: 'keep' }), result: 'keep' },
  deleteUser: keepBoth,
  getInviteCodes: {
    args: 'keep',
    result: each(
      fields({
        message: 'keep',
        created_at: 'keep',
        used_by: 'keep',
        revoked: 'keep',
        is_expired: 'keep',
        expires_at: 'keep',
        role: 'keep',
        grants: 'keep',
      }),
    ),
  },
  createInviteCode: { args: 'keep', result: 'mask' },
  deleteInviteCode: { args: 'mask', result: 'keep' },
  getDashboardHost: keepBoth,
  getDashboardToken: { args: 'keep', result: 'mask' },
  createDashboardToken: { args: 'keep', result: 'mask' },
  deleteDashboardToken: keepBoth,
  getUserAccess: keepBoth,
  setUserAccess: keepBoth,
  getUserMethods: keepBoth,
  getUserSessions: keepBoth,
  endUserSession: keepBoth,
  endUserSessions: keepBoth,
  getUserKeys: { args: 'keep', result: each(apiKey()) },
  deleteUserKey: keepBoth,
  // Its entries never contain a secret (contract/admin.ts).
  getActivity: keepBoth,

  // An ETag is a hash of the whole response, from which a short masked part could be guessed.
  getFiles: { args: 'keep', result: fields({ files: 'keep', deploymentTypeIndex: 'keep', version: { instead: '' } }) },
  createFile: keepBoth,
  createDirectory: keepBoth,
  createDirectories: keepBoth,
  deleteFiles: keepBoth,
  moveFiles: keepBoth,
  renameFile: keepBoth,
  downloadFile: { args: 'keep', result: 'mask' },
  downloadFiles: { args: 'keep', result: 'mask' },
  // `text` is a handle: the content of files never enters the store (api/heldTexts.ts).
  openFile: keepBoth,
  // The recorder does not know the content, so it cannot hide quotations of it in a failure.
  saveFile: { ...keepBoth, message: 'mask' },
  archiveFiles: keepBoth,
  unarchiveFile: keepBoth,
  getFileJobs: keepBoth,
  cancelFileJob: keepBoth,

  getDatabases: { args: 'keep', result: databases() },
  createDatabase: { args: 'keep', result: databases() },
  resetDatabasePassword: { args: 'keep', result: databases() },
  deleteDatabase: keepBoth,

  getOverview: {
    args: 'keep',
    result: fields({ sections: each(fields({ instances: instances() }, 'keep')), version: { instead: '' } }, 'keep'),
  },
  getDeployments: keepBoth,
  getNodes: keepBoth,
  createDeployment: keepBoth,
  deleteDeployment: keepBoth,
  toggleDeployment: keepBoth,
  restartDeployment: keepBoth,
  // A definition may contain credentials, for example in `env`. Its revision is a hash, from which a short secret could
  // be guessed.
  getDeploymentConfig: { args: 'keep', result: fields({ content: 'definition', warnings: 'keep' }) },
  saveDeploymentConfig: { args: fields({ name: 'keep', content: 'definition' }), result: fields({ warnings: 'keep' }) },

  getInstances: { args: 'keep', result: instances() },
  getMetric: keepBoth,
  getCrashCapsule: {
    args: 'keep',
    result: fields({
      exit: 'keep',
      cpu: 'keep',
      memory: 'keep',
      lines: each('output'),
    }),
  },
}

/** The rules for payloads, by type of action. */
export const actionRules: Record<string, Rule | 'lines'> = {
  'session/started': 'keep',
  'session/ended': 'keep',
  'session/adminLearned': 'keep',
  'session/signInRequired': 'address',
  'route/changed': 'address',

  'page/loaded': 'keep',
  'page/shown': 'keep',
  'page/left': 'keep',
  '__rtkq/focused': 'keep',
  '__rtkq/unfocused': 'keep',
  '__rtkq/online': 'keep',
  '__rtkq/offline': 'keep',

  // Notifications never contain secrets (web/facts.ts).
  'notifications/notified': 'keep',
  'notifications/dismissed': 'keep',
  // The reason may quote typed text. The action of the failed call contains it, redacted.
  'problems/problemMet': fields({ id: 'keep', at: 'keep', what: 'keep' }),
  'problems/problemsOpened': 'keep',
  'problems/problemsClosed': 'keep',
  'navigation/menuToggled': 'keep',
  'navigation/menuClosed': 'keep',
  'theme/themeChosen': 'keep',
  'palette/commandsOpened': 'keep',
  'palette/shortcutsOpened': 'keep',
  'palette/paletteClosed': 'keep',
  // Ids of pages, deployments, instances and users, never typed text. Those of earlier visits may name deleted ones.
  'palette/commandChosen': 'keep',
  'palette/singleKeysChosen': 'keep',
  'palette/preferencesRecalled': fields({ recent: { instead: [] }, singleKeys: 'keep' }),

  'login/resumed': 'keep',
  'login/usernameTyped': 'mask',
  'login/returned': 'keep',
  'login/forgotOpened': 'keep',
  'login/forgotClosed': 'keep',
  'otherWays/recoveryChosen': 'keep',
  'registration/usernameChosen': 'mask',
  'registration/left': 'keep',

  'account/userMenuOpened': 'keep',
  'account/userMenuClosed': 'keep',
  'account/accountDialogOpened': 'keep',
  'account/accountDialogClosed': 'keep',
  'account/sessionEndAsked': 'keep',
  'account/sessionEndDropped': 'keep',
  'account/wrongCodesTold': 'keep',
  'account/wrongCodesDismissed': 'keep',
  'account/previousSignInReported': 'keep',
  'account/previousSignInDismissed': 'keep',

  // An invite is identified by its creation time, never by its code (adminSlice.ts).
  'admin/dialogOpened': 'keep',
  'admin/dialogClosed': 'keep',
  'admin/inviteMessageTyped': 'keep',
  'admin/inviteAccessChosen': 'keep',
  'admin/inviteTried': 'keep',
  'admin/usersSearched': 'keep',
  'admin/activityFiltered': 'keep',
  'admin/inviteStatusChosen': 'keep',
  'admin/accessChosen': 'keep',
  'admin/accessChoiceDropped': 'keep',

  // Never contains the created key (api/heldTexts.ts).
  'keys/creationStarted': 'keep',
  'keys/creationEdited': 'keep',
  'keys/creationTried': 'keep',
  'keys/deletionAsked': 'keep',
  'keys/dialogClosed': 'keep',

  // Never contains a typed name or a secret.
  'security/dialogOpened': 'keep',
  'security/dialogClosed': 'keep',

  'files/directoryOpened': 'keep',
  'files/sortChosen': 'keep',
  'files/orderChosen': 'keep',
  'files/densityChosen': 'keep',
  'files/densityLoaded': 'keep',
  'files/filterTyped': 'keep',
  'files/entryReached': 'keep',
  'files/menuOpened': 'keep',
  'files/menuClosed': 'keep',
  'files/dragStarted': 'keep',
  'files/dragEnded': 'keep',
  'files/creationStarted': 'keep',
  'files/creationEdited': 'keep',
  'files/deletionAsked': 'keep',
  'files/deletionFailed': 'keep',
  'files/moveStarted': 'keep',
  'files/moveFailed': 'keep',
  'files/destinationTyped': 'keep',
  'files/renameStarted': 'keep',
  'files/newNameTyped': 'keep',
  'files/formTried': 'keep',
  'files/fileOpened': 'keep',
  'files/conflictMet': 'keep',
  'files/draftChanged': 'keep',
  'files/leaveAsked': 'keep',
  'files/questionAnswered': 'keep',
  'files/dialogClosed': 'keep',
  'selection/toggled': 'keep',
  'selection/rangeSelected': 'keep',
  'selection/allSelected': 'keep',
  'selection/closed': 'keep',

  // Only names of databases.
  'databases/creationStarted': 'keep',
  'databases/nameTyped': 'keep',
  'databases/deletionAsked': 'keep',
  'databases/resetAsked': 'keep',
  'databases/dialogClosed': 'keep',
  'databases/cardToggled': 'keep',
  'databases/tabChosen': 'keep',
  'databases/snippetChosen': 'keep',
  'databases/filtered': 'keep',
  'databases/left': 'keep',

  // Names of deployments, and texts of searches for deployments.
  'overview/preferencesRecalled': 'keep',
  'overview/viewChosen': 'keep',
  'overview/filterChosen': 'keep',
  'overview/searched': 'keep',
  'overview/filtersCleared': 'keep',
  'overview/sectionToggled': 'keep',
  'overview/allCollapsed': 'keep',
  'overview/allExpanded': 'keep',
  'overview/menuOpened': 'keep',
  'overview/menuClosed': 'keep',
  'overview/selectionStarted': 'keep',
  'overview/instanceSelected': 'keep',
  'overview/instanceDeselected': 'keep',
  'overview/selectionEnded': 'keep',

  // The contents of drafts are kept outside the store.
  'drafts/offersChanged': 'keep',

  'version/replaced': 'keep',

  'interruption/asked': 'keep',
  'interruption/answered': 'keep',
  'deployments/creationStarted': 'keep',
  'deployments/creationEdited': 'keep',
  'deployments/creationTried': 'keep',
  'deployments/deletionAsked': 'keep',
  'deployments/dialogClosed': 'keep',
  'deployments/filtered': 'keep',
  'deployments/menuToggled': 'keep',
  'deployments/guideLoaded': 'keep',
  'deployments/guideClosed': 'keep',
  'configuration/draftTyped': fields({ name: 'keep', text: 'definition' }),
  'configuration/draftRestored': fields({ name: 'keep', text: 'definition' }),
  'configuration/draftDropped': 'keep',
  'configuration/draftSaved': fields({ name: 'keep', text: 'definition' }),
  'configuration/conflictMet': 'keep',
  'configuration/changesOpened': 'keep',
  'configuration/leaveAsked': 'keep',
  'configuration/dialogClosed': 'keep',

  'realtime/connected': 'keep',
  'realtime/disconnected': 'keep',
  'realtime/messageReceived': fields({ id: 'keep', data: fields({ event: 'keep', problem: 'keep' }) }),
  'realtime/sendRequested': fields({ id: 'keep' }),

  'console/consoleOpened': 'keep',
  'console/consoleLeft': 'keep',
  'console/attempted': 'keep',
  'console/opened': 'keep',
  'console/closed': 'keep',
  'console/powerRequested': 'keep',
  'console/instanceRevived': 'keep',
  'console/stateReported': 'keep',
  'console/linesCleared': 'keep',
  'console/commandSubmitted': 'command',
  'console/commandSent': 'keep',
  'console/commandRefused': 'keep',
  // Output is masked line by line. Only the first and last lines of a burst are kept (packedLines.ts).
  'console/linesReceived': 'lines',

  // Ids of instances, numbers of panes, and texts of searches for instances.
  'consoles/panesShown': 'keep',
  'consoles/targetToggled': 'keep',
  'consoles/targetsChosen': 'keep',
  'consoles/frontChosen': 'keep',
  'consoles/pickerOpened': 'keep',
  'consoles/pickerSearched': 'keep',
  'consoles/pickerClosed': 'keep',
  'consoles/left': 'keep',

  'instance/killAsked': 'keep',
  'instance/killAnswered': 'keep',
  'instance/capsuleAsked': 'keep',
  'instance/commandsRecalled': each('command'),
  'instance/autoScrollChosen': 'keep',
  'instance/autoScrollRecalled': 'keep',
  'instance/scrolledAway': 'keep',
  'instance/bottomReached': 'keep',
  'instance/paused': 'keep',
  'instance/resumed': 'keep',
  'instance/wrapToggled': 'keep',
  'instance/searched': 'line',
  // The position in the output would reveal the search text and its prefixes.
  'instance/foundShown': 'mask',
  'instance/textSelected': 'keep',
  'instance/selectionEnded': 'keep',
  'instance/rangeChosen': 'keep',

  'uploads/filesChosen': 'keep',
  'uploads/advanced': 'keep',
  'uploads/cancelled': 'keep',
  'uploads/allCancelled': 'keep',
  'uploads/retried': 'keep',
  'uploads/forAllChosen': 'keep',
  'uploads/conflictAnswered': 'keep',
  'uploads/panelToggled': 'keep',
  'uploads/panelRested': 'keep',
  'uploads/signOutAsked': 'keep',
  'uploads/signOutDeclined': 'keep',
  'uploads/cleared': 'keep',
}

/** `plainCommands` come from the definition, where they are masked, too. */
function instances(): Rule {
  return each(fields({ plainCommands: 'mask' }, 'keep'))
}

/** Credentials are masked, except for the port. */
function databases(): Rule {
  return each(fields({ name: 'keep', size: 'keep', tables: 'keep', credentials: fields({ port: 'keep' }) }))
}

/** The prefix of a key is a part of the secret. */
function apiKey(): Rule {
  return fields({ prefix: 'mask' }, 'keep')
}
