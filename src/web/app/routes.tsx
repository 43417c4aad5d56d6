import type { ComponentType } from 'react'
import { lazy, Suspense } from 'react'
import { Route, Routes } from 'react-router-dom'
import '../ui/historyGate'
import { RequireSession } from './RequireSession'

/**
 * Chunks are asked for when their page is shown, not when its address is matched:
 * who is sent to /login loads nothing but the login page.
 */
const page = (load: () => Promise<ComponentType>) => {
  const Page = lazy(async () => ({ default: await load() }))
  return (
    <Suspense>
      <Page />
    </Suspense>
  )
}

const login = page(async () => (await import(/* webpackChunkName: 'page-login' */ '../features/auth/LoginPage')).LoginPage)
const register = page(async () => (await import(/* webpackChunkName: 'page-register' */ '../features/auth/RegisterPage')).RegisterPage)
const layout = page(async () => (await import(/* webpackChunkName: 'layout' */ './Layout')).Layout)
const overview = page(async () => (await import(/* webpackChunkName: 'page-overview' */ '../features/overview/OverviewPage')).OverviewPage)
const deployments = page(async () => (await import(/* webpackChunkName: 'page-deployments' */ '../features/deployments/DeploymentsPage')).DeploymentsPage)
const configuration = page(async () => (await import(/* webpackChunkName: 'page-configuration' */ '../features/deployments/ConfigurationEditor')).ConfigurationEditor)
const instance = page(async () => (await import(/* webpackChunkName: 'page-instance' */ './InstanceRoute')).InstanceRoute)
const notFound = page(async () => (await import(/* webpackChunkName: 'page-not-found' */ './NotFoundPage')).NotFoundPage)
const admin = page(async () => (await import(/* webpackChunkName: 'page-admin' */ './AdminPage')).AdminPage)
const later = page(async () => (await import(/* webpackChunkName: 'page-later' */ './LaterPage')).LaterPage)

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
        <Route path="/files/*" element={later} />
        <Route path="/databases" element={later} />
        <Route path="/instance/:deploymentName/:instanceUid" element={instance} />
      </Route>
      <Route element={layout}>
        <Route path="*" element={notFound} />
      </Route>
    </Routes>
  )
}
