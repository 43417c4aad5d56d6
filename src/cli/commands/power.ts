import { setTimeout as delay } from 'node:timers/promises'
import { Done } from '../../contract/envelope'
import { dataOf, isResponseTimeout, type Api, type Instance } from '../api/client'
import { openConsole } from '../consoleChannel'
import { CliError, EXIT } from '../failure'
import type { Session } from '../session'
import { findTarget, listInstances, type InstanceTarget } from '../targets'
import type { Terminal } from '../terminal/terminal'

export type PowerCommand = 'start' | 'stop' | 'restart' | 'drain'

const REQUESTS = { start: 'start', stop: 'stop', restart: 'restart', drain: 'drainAndStop' } as const
/** Poll interval. A key may make 600 calls a minute. */
const POLL_MS = 500
/** Instances whose states did not change for this long are settled: the manager would have restarted them within it. */
const SETTLED_MS = 10_000
/** Time for a refusal, which comes at once. A restart of a deployment is answered only when it has finished. */
const REFUSAL_MS = 2000

/** Starts, stops, restarts or drains an instance or the instances of a deployment, and waits for the result. */
export async function power(
  { terminal, api }: Session,
  command: PowerCommand,
  { name, wait }: { name: string; wait: boolean },
): Promise<void> {
  const target = await findTarget(api, name)
  const states =
    target.kind === 'instance'
      ? await powerInstances(terminal, api, command, [target], wait)
      : await powerDeployment(terminal, api, command, target.deployment, wait)
  terminal.progress(undefined)
  if (terminal.isJson) terminal.json({ name, command, waited: states !== undefined, instances: states ?? [] })
  else if (!states) terminal.line(`${name}: ${command} was requested.`)
  else if (states.length === 0) terminal.line(`${name}: no instance runs.`)
  else for (const { instance, state } of states) terminal.line(`${instance}: ${state}`)
}

type States = { instance: string; state: string }[]

async function powerInstances(
  terminal: Terminal,
  api: Api,
  command: PowerCommand,
  targets: InstanceTarget[],
  wait: boolean,
): Promise<States | undefined> {
  const deployment = targets[0]?.deployment ?? ''
  const before = wait ? await readableInstances(terminal, api, deployment) : undefined
  await requestEach(api, command, targets)
  if (!before) return undefined
  const isTarget = ({ podName }: Instance) => targets.some((target) => target.podName === podName)
  const startedBefore = new Map(before.map(({ podName, startedAt }) => [podName, startedAt]))
  return poll(terminal, api, deployment, (all) => {
    const instances = all.filter(isTarget)
    throwIfBlocked(instances)
    if (command === 'stop' || command === 'drain') return instances.every(({ state }) => state === 'STOPPED')
    if (instances.length < targets.length) throw new CliError(EXIT.notFound, 'The instance is gone.')
    return instances.every(
      ({ state, podName, startedAt }) =>
        state === 'RUNNING' && (command === 'start' || startedAt !== startedBefore.get(podName)),
    )
  }).then((all) => statesOf(all.filter(isTarget)))
}

/** @throws CliError naming the instances that were refused, after all were requested */
async function requestEach(api: Api, command: PowerCommand, targets: InstanceTarget[]): Promise<void> {
  const refusals: { podName: string; error: CliError }[] = []
  for (const target of targets) {
    try {
      const channel = await openConsole(api, target)
      await channel.request({ type: 'power', action: REQUESTS[command] }).finally(() => channel.close())
    } catch (error) {
      // One instance may have stopped meanwhile; the others still have to be requested.
      if (!(error instanceof CliError) || targets.length === 1) throw error
      refusals.push({ podName: target.podName, error })
    }
  }
  const [first] = refusals
  if (!first) return
  const isSame = refusals.every(({ error }) => error.exitCode === first.error.exitCode)
  const summary =
    refusals.length === targets.length
      ? `${command} failed for all instances:`
      : `${command} failed for ${refusals.length} of ${targets.length} instances, and was requested for the others:`
  throw new CliError(
    isSame ? first.error.exitCode : EXIT.failed,
    [summary, ...refusals.map(({ podName, error }) => `${podName}: ${error.message}`)].join('\n'),
  )
}

async function powerDeployment(
  terminal: Terminal,
  api: Api,
  command: PowerCommand,
  name: string,
  wait: boolean,
): Promise<States | undefined> {
  const params = { path: { name } }
  if (command === 'drain') {
    const running = (await listInstances(api, name)).filter(({ state }) => state === 'RUNNING' || state === 'STARTING')
    return running.length === 0 ? [] : powerInstances(terminal, api, command, running, wait)
  }
  if (command === 'restart') return restartDeployment(terminal, api, name, wait)
  dataOf(
    await api.calls.POST('/api/deployments/{name}/toggle', { params, body: { enabled: command === 'start' } }),
    Done,
  )
  if (!wait || !(await readableInstances(terminal, api, name))) return undefined
  const isDone = command === 'start' ? createStartCheck() : (instances: Instance[]) => instances.length === 0
  return statesOf(await poll(terminal, api, name, isDone))
}

async function restartDeployment(
  terminal: Terminal,
  api: Api,
  name: string,
  wait: boolean,
): Promise<States | undefined> {
  const before = wait ? await readableInstances(terminal, api, name) : undefined
  const startedBefore = new Map(before?.map(({ podName, startedAt }) => [podName, startedAt]))
  /** The request ends these blocks, but may not have reached the server yet. A new block is in its response. */
  const blockedBefore = new Set(before?.filter(({ state }) => state === 'BLOCKED').map(({ podName }) => podName))
  let isAnswered = false
  let failure: Error | undefined
  const abandoned = new AbortController()
  const restarted = api.calls
    .POST('/api/deployments/{name}/restart', { params: { path: { name } }, signal: abandoned.signal })
    .then((result) => {
      dataOf(result, Done)
      isAnswered = true
    })
    .catch((error: Error) => {
      // The restart continues without its client.
      if (isResponseTimeout(error)) blockedBefore.clear()
      else if (!abandoned.signal.aborted) failure = error
    })
  try {
    if (!before) {
      await Promise.race([restarted, delay(REFUSAL_MS, undefined, { ref: false })])
      if (failure) throw failure
      return undefined
    }
    const all = await poll(terminal, api, name, (instances) => {
      if (failure) throw failure
      throwIfBlocked(instances.filter(({ podName }) => !blockedBefore.has(podName)))
      return (
        isAnswered ||
        (instances.length > 0 &&
          instances.every(
            ({ podName, startedAt, state }) => state === 'RUNNING' && startedAt !== startedBefore.get(podName),
          ))
      )
    })
    return statesOf(all)
  } finally {
    // A request in flight would keep this program running.
    abandoned.abort()
  }
}

/** @returns undefined, with a note to the user, if the key may not read states, so that waiting is impossible */
async function readableInstances(terminal: Terminal, api: Api, name: string): Promise<Instance[] | undefined> {
  return listInstances(api, name).catch((error: unknown) => {
    if (!(error instanceof CliError) || error.exitCode !== EXIT.notAllowed) throw error
    terminal.note('The key may not read states (scope read), so the result is not waited for.')
    return undefined
  })
}

/** Polls the instances until the condition holds. @returns the instances of that poll */
async function poll(
  terminal: Terminal,
  api: Api,
  name: string,
  isDone: (instances: Instance[]) => boolean,
): Promise<Instance[]> {
  for (;;) {
    const instances = await listInstances(api, name)
    if (isDone(instances)) return instances
    const states = instances.map((instance) => `${instance.podName} ${progressOf(instance)}`)
    terminal.progress(states.join(', ') || `${name}: no instance yet`)
    await delay(POLL_MS)
  }
}

/** Creates a condition that holds when all instances run, or when the states are settled. */
function createStartCheck(): (instances: Instance[]) => boolean {
  let seen = ''
  let since = Date.now()
  return (instances) => {
    const moving = instances.some(({ state, retry }) => retry || state === 'STARTING' || state === 'STOPPING')
    if (!moving) throwIfBlocked(instances)
    if (instances.length > 0 && instances.every(({ state }) => state === 'RUNNING')) return true
    const now = instances.map(({ podName, state }) => `${podName} ${state}`).join()
    if (now !== seen || moving) since = Date.now()
    seen = now
    return Date.now() - since > SETTLED_MS
  }
}

function throwIfBlocked(instances: Instance[]): void {
  const blocked = instances.find(({ state }) => state === 'BLOCKED')
  if (blocked)
    throw new CliError(
      EXIT.failed,
      `${blocked.podName} is blocked: ${blocked.blockedReason ?? 'see its console'}\nIts last lines: quarterdeck logs ${blocked.podName}`,
    )
}

const progressOf = ({ state, retry }: Instance) =>
  retry ? `crashed, is started again (${retry.attempt} of ${retry.of})` : state

const statesOf = (instances: Instance[]): States =>
  instances.map(({ podName, state }) => ({ instance: podName, state }))
