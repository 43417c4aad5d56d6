import { useSelector } from 'react-redux'
import {
  configurationAddress,
  deploymentConsolesAddress,
  filesAddress,
  instanceAddress,
  userAddress,
} from '../../addresses'
import { countsOf } from '../../api/deployments'
import { networkApi } from '../../api/network'
import { useGetUsersQuery } from '../../api/admin'
import { useAccess } from '../../api/useAccess'
import { useSignOut } from '../../api/signIn/useSignOut'
import { accountDialogOpened } from '../../features/account/accountSlice'
import { toggleDeployment } from '../../deploymentPower/power'
import { useAskFirst } from '../../deploymentPower/useAskFirst'
import { selectIsAdmin } from '../../features/auth/sessionSlice'
import { problemsOpened } from '../../features/problems/problemsSlice'
import { appearanceOfAny } from '../../instanceState'
import { useAppDispatch } from '../hooks'
import { THEMES, themeChosen } from '../themeSlice'
import { shortcutsOpened } from './paletteSlice'

export interface Command {
  /** Stable across visits. */
  id: string
  group: 'Pages' | 'Deployments' | 'Instances' | 'Directories' | 'Users' | 'Actions'
  label: string
  /** Also searched; shown beside the label. */
  hint?: string
  /** A path of the console. A command without one has `run`. */
  to?: string
  run?: () => void
  /** Ends the session, so guards of unsaved work ask before it runs. */
  isSignOut?: boolean
}

/** Every page and action that the palette offers the signed-in user. */
export function useCommands(): Command[] {
  const dispatch = useAppDispatch()
  const askFirst = useAskFirst()
  const isAdmin = useSelector(selectIsAdmin)
  const { isLimited, may } = useAccess()
  const [signOut] = useSignOut()
  const { data: overview } = networkApi.useGetOverviewQuery(undefined, { refetchOnMountOrArgChange: 5 })
  const { data: users } = useGetUsersQuery(undefined, { skip: !isAdmin })

  const sections = overview?.sections ?? []
  const deployments = sections.map(({ deployment }) => deployment)
  const instances = sections.flatMap((section) => section.instances)

  return [
    ...pagesFor(isAdmin, isLimited),
    ...creationsFor(isAdmin, isLimited),
    ...deployments
      .filter(({ name }) => may('configuration', name))
      .map(({ name }): Command => ({
        id: `configuration:${name}`,
        group: 'Deployments',
        label: name,
        hint: 'configuration',
        to: configurationAddress(name),
      })),
    ...sections
      .filter(({ deployment }) => may('power', deployment.name))
      .flatMap(({ deployment: { name, enabled }, instances: own }) =>
        enabled
          ? [
              power('restart', name, () => askFirst('restart', name, countsOf(own))),
              power('disable', name, () => askFirst('disable', name, countsOf(own))),
            ]
          : [power('enable', name, () => dispatch(toggleDeployment(name, true)))],
      ),
    ...sections
      .filter(({ deployment, instances: own }) => own.length > 1 && may('console', deployment.name))
      .map(({ deployment: { name }, instances: own }): Command => ({
        id: `consoles:${name}`,
        group: 'Deployments',
        label: name,
        hint: 'open consoles side by side',
        to: deploymentConsolesAddress(own),
      })),
    ...instances.map(({ name, uid, deployment, state }): Command => ({
      id: `instance:${deployment}/${uid}`,
      group: 'Instances',
      label: name,
      hint: appearanceOfAny(state).name,
      to: instanceAddress(deployment, uid),
    })),
    ...deployments
      .filter(({ name }) => may('files', name))
      .map(({ dataDirectory }): Command => ({
        id: `directory:${dataDirectory}`,
        group: 'Directories',
        label: dataDirectory,
        hint: 'files',
        to: filesAddress(dataDirectory),
      })),
    ...(users ?? []).map(({ id, username }): Command => ({
      id: `person:${id}`,
      group: 'Users',
      label: username,
      to: userAddress(id),
    })),
    ...THEMES.map((theme) =>
      action(`theme:${theme}`, theme === 'auto' ? 'Use the theme of the system' : `Use the ${theme} theme`, () =>
        dispatch(themeChosen(theme)),
      ),
    ),
    action('problems', 'Show problems', () => dispatch(problemsOpened())),
    action('sessions', 'Show your sessions', () => dispatch(accountDialogOpened('sessions'))),
    action('password', 'Change password', () => dispatch(accountDialogOpened('password'))),
    action('export', 'Export action log', () => dispatch(accountDialogOpened('export'))),
    action('shortcuts', 'Show keyboard shortcuts', () => dispatch(shortcutsOpened()), '?'),
    { ...action('logout', 'Log out', signOut), isSignOut: true },
  ]
}

const creation = (address: string, label: string): Command => ({
  id: `create:${address}`,
  group: 'Actions',
  label,
  to: address,
})
const page = (path: string, label: string, hint?: string): Command => ({
  id: `page:${path}`,
  group: 'Pages',
  label,
  ...(hint !== undefined && { hint }),
  to: path,
})
const action = (id: string, label: string, run: () => unknown, hint?: string): Command => ({
  id: `action:${id}`,
  group: 'Actions',
  label,
  ...(hint !== undefined && { hint }),
  run: () => void run(),
})
const power = (change: 'restart' | 'disable' | 'enable', name: string, run: () => unknown): Command => ({
  id: `${change}:${name}`,
  group: 'Deployments',
  label: name,
  hint: change,
  run: () => void run(),
})

function pagesFor(isAdmin: boolean, isLimited: boolean): Command[] {
  return [
    page('/', 'Overview', 'g o'),
    page('/deployments', 'Deployments', 'g d'),
    page('/files', 'Files', 'g f'),
    page('/consoles', 'Consoles', 'g c'),
    ...(isLimited ? [] : [page('/databases', 'Databases', 'g b')]),
    ...(isAdmin
      ? [
          page('/admin', 'User Management', 'g a'),
          page('/admin?tab=invites', 'Invite Codes'),
          page('/admin?tab=dashboard', 'Kubernetes Dashboard'),
          page('/activity', 'Activity'),
        ]
      : []),
    page('/keys', 'API keys'),
    page('/security', 'Sign-in methods', 'passkeys, authenticators, recovery codes'),
  ]
}

/** Pages that open with the dialog of a creation (ui/useCreateParameter). */
function creationsFor(isAdmin: boolean, isLimited: boolean): Command[] {
  return [
    ...(isLimited
      ? []
      : [
          creation('/deployments?create', 'Create deployment'),
          creation('/databases?create=sql', 'Create SQL database'),
          creation('/databases?create=mongo', 'Create MongoDB database'),
        ]),
    ...(isAdmin ? [creation('/admin?tab=invites&create', 'Create invite code')] : []),
    creation('/keys?create', 'Create API key'),
  ]
}
