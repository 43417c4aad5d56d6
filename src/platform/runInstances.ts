import { join } from 'node:path'
import type { Settings } from './config'
import { createDiscovery } from './deployments/monitoring/discovery'
import { createListeningSockets } from './deployments/monitoring/listeningSockets'
import { sampleMetrics } from './deployments/monitoring/metrics'
import { peersFileOf } from './deployments/monitoring/peersFiles'
import { watchPlayers } from './deployments/monitoring/players'
import { shareSync } from './deployments/monitoring/sharedSync'
import { startManager, type Manager } from './deployments/reconcile/manager'
import { copiesIn } from './runtime/copies'
import { openClusterRuntime } from './runtime/kubernetes/openClusterRuntime'
import { openRuntime } from './runtime/openRuntime'
import type { Runtime } from './runtime/runtime'
import { findDeploymentDirectory } from './share/deploymentDirectory'
import { hasDiskRoom, hasRoomForCopies } from './share/disks'
import type { Files } from './share/files'
import type { Replicas } from './share/replicas/replicas'
import type { ShareLocation } from './share/shareMarker'
import { createConsoleStore } from './state/deployments/consoles'
import { idOfState } from './state/claimedFacts'
import type { StateDatabase } from './state/db'
import type { Notifications } from './state/notifications'
import type { Surroundings } from './surroundings'

/** Internal directory of the shared area with the peers files of Pods. */
const PEERS_IN_SHARE = '.quarterdeck-peers'

export interface InstancesParts {
  settings: Settings
  surroundings: Surroundings
  state: StateDatabase
  share: Pick<Required<ShareLocation>, 'marker' | 'dataDirectories'> & { replicas: Replicas; files: Files }
  notifications: Notifications
  /** Whether other platforms may use the same state. */
  isReplica: boolean
  /** Called once with the opened runtime. Returns the one that the platform uses. */
  wrapRuntime: ((runtime: Runtime) => Runtime) | undefined
}

/**
 * Opens the runtime, and starts the parts that keep its instances as the state wants them.
 * @throws StartError if the runtime cannot work as the settings want it
 */
export async function runInstances({
  settings,
  surroundings: { log, closers },
  state: { db, pool },
  share: { marker, dataDirectories, replicas, files },
  notifications,
  isReplica,
  wrapRuntime = (runtime) => runtime,
}: InstancesParts) {
  const { dataDir, shareDir } = settings
  const isCluster = settings.runtime === 'kubernetes'
  // Pods see a directory of this machine only in the shared area.
  const peers = isCluster ? join(shareDir, PEERS_IN_SHARE) : join(dataDir, 'runtime/peers')
  const location = { shareDir, marker, dataDirectories }
  const directory = (path: string) => findDeploymentDirectory(location, path)
  let getManager: () => Manager | undefined = () => undefined
  const isManager = () => getManager()?.isActive ?? false
  const opened = isCluster
    ? {
        runtime: openClusterRuntime({
          ...settings,
          store: createConsoleStore(db),
          stateId: await idOfState(db),
          isActive: isManager,
          confirmActive: async () => (await getManager()?.confirmActive()) ?? false,
          writeBack: files.writeBack,
          directoryOf: directory,
          peersDirectory: (podName) => `/${PEERS_IN_SHARE}/${podName}`,
          log,
        }),
        plainReason: undefined,
      }
    : await openRuntime({
        ...settings,
        replicas,
        writeBack: files.writeBack,
        paths: { directory, peersFile: (podName) => peersFileOf(peers, podName) },
        log,
      })
  const runtime = wrapRuntime(opened.runtime)
  closers.push(() => runtime.close())
  const { plainReason } = opened
  log.info(
    { isolation: runtime.isolation, limits: runtime.limits, whyPlain: plainReason },
    `instances are ${runtime.isolation}; resource limits: ${runtime.limits}`,
  )
  const listening = createListeningSockets(() => runtime.list())
  const onChange = () => {
    manager.wake()
    discovery.scheduleUpdate()
  }
  const players = watchPlayers({ db, runtime, listening, onChange, now: Date.now })
  closers.push(() => players.close())
  const discovery = createDiscovery({
    db,
    runtime,
    players: () => players,
    directory: peers,
    ...(isCluster && { isActive: isManager }),
    log,
  })
  closers.push(() => discovery.close())
  const hasRoom = async ({ copy }: { copy: boolean }) =>
    isCluster || ((await hasDiskRoom(dataDir)) && (!copy || (await hasRoomForCopies(copiesIn(dataDir)))))
  const parts = { db, pool, runtime, players, listening, hasRoom, discovery, ...location, replicas, log }
  const sync = shareSync(runtime.copySync ?? replicas, notifications, () => !isReplica || manager.isActive)
  closers.push(async () => sync.close())
  const manager = startManager({ ...parts, now: Date.now, onPass: sync.announce })
  getManager = () => manager
  closers.push(() => manager.close())
  notifications.on('instances', () => manager.wake())
  closers.push(sampleMetrics({ db, runtime, log, isActive: () => manager.isActive }))
  return { runtime, players, discovery, sync, wake: () => notifications.publish('instances'), plainReason }
}
