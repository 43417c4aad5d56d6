import pino from 'pino'
import type { ClusterClient } from '../../../src/platform/runtime/kubernetes/clusterClient'
import { openKubernetesRuntime, type KubernetesParts } from '../../../src/platform/runtime/kubernetes/kubernetesRuntime'
import type { Runtime } from '../../../src/platform/runtime/runtime'
import { createConsoleStore } from '../../../src/platform/state/deployments/consoles'
import type { FreshState } from './freshState'

/** Opens the runtime of a manager with a silent log, whose instances need no preparation, with the given changes. */
export const openClusterRuntime = (
  client: ClusterClient,
  state: FreshState,
  changes: Partial<KubernetesParts> = {},
): Runtime =>
  openKubernetesRuntime({
    client,
    store: createConsoleStore(state.db),
    isActive: () => true,
    confirmActive: async () => true,
    claim: 'quarterdeck-share',
    image: 'quarterdeck.test/none:1',
    user: 1000,
    stateId: 'state-1',
    peersDirectory: () => '/peers',
    copies: { pathOf: () => '/copies', writeBack: async () => 0, remove: async () => undefined },
    prepare: async () => undefined,
    log: pino({ level: 'silent' }),
    ...changes,
  })
