import type { ComponentType } from 'react'
import { Route, Routes } from 'react-router-dom'
import { lazyEarly } from '../../chunks'
import '../../ui/leave/historyGate'
import { RequireSession } from './RequireSession'

/** Loads a chunk when its page renders, not when its route matches: a redirect to /login loads only the login page. */
const page = (load: () => Promise<ComponentType>) => {
  const Page = lazyEarly(load, withLoadingState)
  return <Page />
}

let pendingLoads = 0
/** The previous page stays until the next one is loaded, so the header shows progress (styles/_header.scss). */
async function withLoadingState<T>(load: () => Promise<T>): Promise<T> {
  const { dataset } = document.documentElement
  pendingLoads++
  dataset.loading = ''
  try {
    return await load()
  } finally {
    pendingLoads--
    if (!pendingLoads) delete dataset.loading
  }
}

const login = page(
  async () => (await import(/* webpackChunkName: 'page-login' */ '../../features/auth/LoginPage')).LoginPage,
)
const register = page(
  async () => (await import(/* webpackChunkName: 'page-register' */ './RegisterRoute')).RegisterRoute,
)
const layout = page(async () => (await import(/* webpackChunkName: 'layout' */ '../layout/Layout')).Layout)
const overview = page(
  async () =>
    (await import(/* webpackChunkName: 'page-overview' */ '../../features/overview/OverviewPage')).OverviewPage,
)
const deployments = page(
  async () =>
    (await import(/* webpackChunkName: 'page-deployments' */ '../../features/deployments/DeploymentsPage'))
      .DeploymentsPage,
)
const configuration = page(
  async () =>
    (
      await import(
        /* webpackChunkName: 'page-configuration' */ '../../features/deployments/configuration/ConfigurationEditor'
      )
    ).ConfigurationEditor,
)
const instance = page(
  async () => (await import(/* webpackChunkName: 'page-instance' */ '../pages/InstancePages')).InstancePages,
)
const databases = page(
  async () =>
    (await import(/* webpackChunkName: 'page-databases' */ '../../features/databases/DatabasesPage')).DatabasesPage,
)
const files = page(
  async () => (await import(/* webpackChunkName: 'page-files' */ '../../features/files/FilesPage')).FilesPage,
)
const admin = page(async () => (await import(/* webpackChunkName: 'page-admin' */ '../pages/adminPage')).AdminPage)
const account = page(
  async () => (await import(/* webpackChunkName: 'page-account' */ '../pages/AccountPage')).AccountPage,
)

declare const __BUILD__: string | undefined

/** Only in a build for development. */
const components =
  typeof __BUILD__ === 'string' && __BUILD__ === 'development'
    ? page(async () => (await import('../dev/ComponentsPage')).ComponentsPage)
    : undefined

/** Declarative: the data router would add 16 kB (gzip) to the login page, and nothing here needs it. */
export function AppRoutes() {
  return (
    <Routes>
      <Route path="/login" element={login} />
      <Route path="/register" element={register} />
      <Route element={<RequireSession>{layout}</RequireSession>}>
        <Route path="/" element={overview} />
        <Route path="/deployments" element={deployments} />
        <Route path="/deployments/:name/edit" element={configuration} />
        <Route path="/admin" element={admin} />
        <Route path="/admin/users/:id" element={admin} />
        <Route path="/activity" element={admin} />
        <Route path="/files/*" element={files} />
        <Route path="/keys" element={account} />
        <Route path="/security" element={account} />
        <Route path="/databases" element={databases} />
        <Route path="/instance/:deploymentName/:instanceUid" element={instance} />
        <Route path="/consoles" element={instance} />
        {components && <Route path="/dev/components" element={components} />}
      </Route>
      <Route path="*" element={layout} />
    </Routes>
  )
}
