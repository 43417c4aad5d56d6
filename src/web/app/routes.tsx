import type { ComponentType } from 'react'
import { Suspense } from 'react'
import { Route, Routes } from 'react-router-dom'
import { lazyEarly } from '../chunks'
import '../ui/historyGate'
import { RequireSession } from './RequireSession'

/**
 * Chunks are asked for when their page is shown, not when its address is matched:
 * who is sent to /login loads nothing but the login page.
 */
const page = (load: () => Promise<ComponentType>) => {
  const Page = lazyEarly(load, announced)
  return (
    <Suspense>
      <Page />
    </Suspense>
  )
}

let waitingFor = 0
/** The page before stays until the next one is there, so the header tells that it is on its way (styles/_header.scss). */
async function announced<T>(load: () => Promise<T>): Promise<T> {
  const { dataset } = document.documentElement
  waitingFor++
  dataset.loading = ''
  try {
    return await load()
  } finally {
    waitingFor--
    if (!waitingFor) delete dataset.loading
  }
}

const login = page(
  async () => (await import(/* webpackChunkName: 'page-login' */ '../features/auth/LoginPage')).LoginPage,
)
const register = page(
  async () => (await import(/* webpackChunkName: 'page-register' */ './RegisterRoute')).RegisterRoute,
)
const layout = page(async () => (await import(/* webpackChunkName: 'layout' */ './Layout')).Layout)
const overview = page(async () => (await import(/* webpackChunkName: 'page-overview' */ './overviewPage')).OverviewPage)
const deployments = page(
  async () => (await import(/* webpackChunkName: 'page-deployments' */ './deploymentsPage')).DeploymentsPage,
)
const configuration = page(
  async () => (await import(/* webpackChunkName: 'page-configuration' */ './configurationPage')).ConfigurationEditor,
)
const instance = page(async () => (await import(/* webpackChunkName: 'page-instance' */ './instancePage')).InstancePage)
const databases = page(
  async () => (await import(/* webpackChunkName: 'page-databases' */ './databasesPage')).DatabasesPage,
)
const files = page(async () => (await import(/* webpackChunkName: 'page-files' */ './filesPage')).FilesPage)
const notFound = page(
  async () => (await import(/* webpackChunkName: 'page-not-found' */ './NotFoundPage')).NotFoundPage,
)
const admin = page(async () => (await import(/* webpackChunkName: 'page-admin' */ './adminPage')).AdminPage)
const activity = page(async () => (await import(/* webpackChunkName: 'page-activity' */ './activityPage')).ActivityPage)

/** Declarative on purpose: the data router alone would cost the login page 16 kB (gzip) that nothing here needs. */
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
        <Route path="/activity" element={activity} />
        <Route path="/files/*" element={files} />
        <Route path="/databases" element={databases} />
        <Route path="/instance/:deploymentName/:instanceUid" element={instance} />
      </Route>
      <Route element={layout}>
        <Route path="*" element={notFound} />
      </Route>
    </Routes>
  )
}
