import { AppError } from '../errors'
import { listInContact } from '../runtime/contact'
import type { Runtime } from '../runtime/runtime'
import type { Db } from '../state/db'
import { findDeployment } from '../state/deployments/deployments'
import { findInstanceByPod, setBlocked, setDrain, setRestartRun, setDesiredState } from '../state/deployments/instances'
import { tryParseDefinition } from './definitions'

export type PowerAction = 'start' | 'stop' | 'restart' | 'kill' | 'drainAndStop' | 'drainAndRestart'

/** Starts and stops single instances. Each request is stored first, so that it survives a restart of the platform. */
export interface Power {
  /**
   * Resolves when the action has begun.
   * @throws AppError NOT_FOUND, or CONFLICT if the deployment is disabled or, for a drain, the instance does not run or
   * its definition has no `drain`; UNAVAILABLE if the cluster does not answer. Nothing is stored if it has
   * not answered for 15 s; before that, the request may be stored, and the manager then does it later
   */
  request(podName: string, action: PowerAction): Promise<void>
}

/** @param wake makes the manager reconcile at once: it does starts and restarts */
export function createPower({ db, runtime, wake }: { db: Db; runtime: Runtime; wake: () => void }): Power {
  return {
    async request(podName, action) {
      const row = await findInstanceByPod(db, podName)
      const deployment = row && (await findDeployment(db, row.deployment))
      if (!row || !deployment || row.wanted === 'gone')
        throw new AppError('NOT_FOUND', `There is no pod named "${podName}".`)
      const run = (await listInContact(runtime)).find(
        (candidate) => candidate.podName === podName && candidate.state !== 'EXITED',
      )
      if (action === 'drainAndStop' || action === 'drainAndRestart') {
        if (!run || run.state === 'STOPPING') throw new AppError('CONFLICT', 'The instance is not running.')
        if (!tryParseDefinition(deployment.content).definition?.drain)
          throw new AppError(
            'CONFLICT',
            `The configuration of "${row.deployment}" has no "drain" setting. Add it to drain instances.`,
          )
        await setDrain(db, row.uid, { run: run.runId, then: action === 'drainAndStop' ? 'stop' : 'restart' })
        return wake()
      }
      // A new request ends a pending drain.
      if (row.drain_run !== null) await setDrain(db, row.uid, null)
      if (action === 'start' || action === 'restart') {
        if (!deployment.enabled)
          throw new AppError('CONFLICT', `The deployment "${row.deployment}" is disabled. Enable it to start it.`)
        await setDesiredState(db, row.uid, 'running')
        if (row.blocked_reason !== null || !run) await setBlocked(db, row.uid, null)
        if (run && (action === 'restart' || run.state === 'STOPPING')) {
          await setRestartRun(db, row.uid, run.runId)
          await runtime.stop(podName)
        }
      } else {
        await setDesiredState(db, row.uid, 'stopped')
        if (row.blocked_reason !== null) await setBlocked(db, row.uid, null)
        if (action === 'stop') await runtime.stop(podName)
        else await runtime.kill(podName)
      }
      wake()
    },
  }
}
