import type { CreateApiKey } from '../../../contract/access'
import type { CreateDatabase } from '../../../contract/database'
import type { Configuration, CreateDeployment, Toggle } from '../../../contract/deployment'
import type { MoveFile, SaveFile } from '../../../contract/file'
import { access, CONTENT, INVITE_CODE, LATER, NOON, OPAQUE, RECOVERY_CODE, severalFiles } from './exampleValues'

/** The result of the browser's passkey prompt. */
const passkeyResponse = {
  id: OPAQUE,
  response: { clientDataJSON: 'eyJ0eXBlIjoid2ViYXV0aG4uZ2V0In0', authenticatorData: OPAQUE, signature: OPAQUE },
}

/** Bodies of calls by their operation id. */
export const bodyExamples: Record<string, unknown> = {
  logIn: { username: 'steve', password: 'correct horse battery' },
  verifyLogIn: { username: 'steve', token: '123456', sessionToken: OPAQUE },
  verifyInvite: { inviteCode: INVITE_CODE },
  register: { username: 'steve', password: 'correct horse battery', inviteToken: OPAQUE },
  verifyRegistration: { username: 'steve', token: '123456', inviteToken: OPAQUE },
  changePassword: { password: 'correct horse battery', newPassword: 'staple battery horse', token: '123456' },
  createDeployment: { name: 'lobby', type: 'scalable' } satisfies CreateDeployment,
  saveConfiguration: { content: CONTENT, revision: '4' } satisfies Configuration,
  toggleDeployment: { enabled: true } satisfies Toggle,
  createDatabase: { name: 'lobby' } satisfies CreateDatabase,
  saveFile: {
    path: '/nfsshare/lobby/server.properties',
    content: 'motd=Welcome\n',
    modifyTime: NOON,
  } satisfies SaveFile,
  createFile: { path: '/nfsshare/lobby/whitelist.json', content: '' },
  createDirectory: { path: '/nfsshare/lobby/plugins' },
  moveFile: {
    sourcePath: '/nfsshare/lobby/world',
    targetPath: '/nfsshare/lobby/world-old',
  } satisfies MoveFile,
  createDownloadTicket: { path: '/nfsshare/lobby/server.properties' },
  downloadSeveral: severalFiles,
  archive: { path: '/nfsshare/lobby/world' },
  archiveSeveral: severalFiles,
  unarchive: { path: '/nfsshare/lobby/world.zip' },
  setAdministrator: { is_admin: true },
  setPassword: { password: 'staple battery horse' },
  createInviteCode: { message: 'For Alex' },
  verifyRecoveryCode: { username: 'steve', sessionToken: OPAQUE, recoveryCode: RECOVERY_CODE },
  getPasskeyOptions: { username: 'steve', sessionToken: OPAQUE },
  verifyPasskey: { username: 'steve', sessionToken: OPAQUE, response: passkeyResponse },
  logInWithPasskey: { response: passkeyResponse },
  prove: { password: 'correct horse battery', code: '123456' },
  connectOpenId: { proof: OPAQUE },
  beginAuthenticator: { proof: OPAQUE },
  confirmAuthenticator: { setup: OPAQUE, name: 'Phone', code: '123456' },
  renameAuthenticator: { name: 'Old phone' },
  removeAuthenticator: { proof: OPAQUE },
  beginPasskey: { proof: OPAQUE },
  createPasskey: {
    name: 'Laptop',
    response: {
      id: OPAQUE,
      response: {
        clientDataJSON: 'eyJ0eXBlIjoid2ViYXV0aG4uY3JlYXRlIn0',
        attestationObject: OPAQUE,
        transports: ['internal'],
      },
    },
  },
  renamePasskey: { name: 'Old laptop' },
  removePasskey: { proof: OPAQUE },
  createRecoveryCodes: { proof: OPAQUE },
  createKey: {
    name: 'Nightly restart',
    scopes: ['read', 'power'],
    deployments: ['lobby'],
    expires_at: LATER,
  } satisfies CreateApiKey,
  setUserAccess: access,
}
