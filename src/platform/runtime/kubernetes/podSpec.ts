import type { V1Container, V1EnvVar, V1Pod, V1Volume, V1VolumeMount } from '@kubernetes/client-node'
import { z } from 'zod'
import { SHARED_ROOT } from '../../../contract/pageRules'
import { COPY_MARKER } from '../../share/internalNames'
import type { InstanceSpec } from '../runtime'

/** The container that runs the program (decisions §15). */
export const CONTAINER = 'instance'
/** The init container that fills the copy of an instance. */
export const COPY_CONTAINER = 'copy'
/** Volume of a copy that ends with the Pod. */
export const COPY_VOLUME = 'data'
const WORKING_DIRECTORY = '/data'
const PEERS_DIRECTORY = '/run/quarterdeck/peers'
/** Time between SIGTERM and SIGKILL (decisions §5). */
export const KILL_AFTER_SECONDS = 10
/** How long a Pod stays on a node that does not answer. */
const UNREACHABLE_SECONDS = 30

/** A condition of our own, which makes the Pod ready for its Service when the ready line was printed. */
export const READY_CONDITION = 'quarterdeck.io/ready'
/** The parts of the specification that later steps need, as JSON. */
export const RUN_ANNOTATION = 'quarterdeck.io/run'
/** When a stop was requested: milliseconds since the epoch. */
export const STOP_ANNOTATION = 'quarterdeck.io/stop-requested-at'
/** Set when the stop command was written. */
export const STOP_SENT_ANNOTATION = 'quarterdeck.io/stop-command-sent'

/**
 * The state that knows an object: a platform with another state, started in the same namespace by mistake, leaves it
 * alone. Objects of earlier versions have no such annotation.
 */
const STATE_ANNOTATION = 'quarterdeck.io/state'

export const DEPLOYMENT_LABEL = 'app.kubernetes.io/name'
const MANAGED_BY_LABEL = 'app.kubernetes.io/managed-by'
export const MANAGED_BY = { [MANAGED_BY_LABEL]: 'quarterdeck' }
/** Selects the objects that the platform has created. */
export const MANAGED_BY_SELECTOR = `${MANAGED_BY_LABEL}=quarterdeck`

/** The annotation of an object that the platform creates. */
export const ofState = (stateId: string): Record<string, string> => ({ [STATE_ANNOTATION]: stateId })

/** Whether an object may be one that this platform, or another replica of it, has created. */
export function isOfState({ metadata }: Pick<V1Pod, 'metadata'>, stateId: string): boolean {
  return (metadata?.annotations?.[STATE_ANNOTATION] ?? stateId) === stateId
}

/** A JSON Patch (RFC 6902) that sets the platform's label on an object of this state; it fails on any other. */
export const markOf = (stateId: string): object[] => [
  { op: 'test', path: `/metadata/annotations/${escaped(STATE_ANNOTATION)}`, value: stateId },
  { op: 'add', path: `/metadata/labels/${escaped(MANAGED_BY_LABEL)}`, value: MANAGED_BY[MANAGED_BY_LABEL] },
]

const escaped = (key: string) => key.replaceAll('/', '~1')

/**
 * Why the platform cannot find an object again that it has just created: an admission webhook has changed it.
 * @param kind in the plural
 * @returns text for users; undefined if it can find it
 */
export function lostMarkOf(
  object: Pick<V1Pod, 'metadata'>,
  stateId: string,
  kind: 'Pods' | 'Services',
): string | undefined {
  const { labels, annotations } = object.metadata ?? {}
  const changed =
    labels?.[MANAGED_BY_LABEL] !== MANAGED_BY[MANAGED_BY_LABEL]
      ? `label ${MANAGED_BY_LABEL} to "${labels?.[MANAGED_BY_LABEL] ?? ''}"`
      : isOfState(object, stateId)
        ? undefined
        : `annotation ${STATE_ANNOTATION} to "${annotations?.[STATE_ANNOTATION] ?? ''}"`
  return (
    changed &&
    `an admission webhook of the cluster changes the ${changed}, by which the platform finds its ${kind}. Exclude them from it`
  )
}

export interface PodSettings {
  /** Identifies the platform's state. */
  stateId: string
  /** Name of the claim of the shared area. */
  claim: string
  /** The default image. */
  image: string
  /** User and group id of every Pod. The platform has the same, so that both can change the files. */
  user: number
  /** Path of the directory with an instance's peers file, in the shared area. */
  peersDirectory: (podName: string) => string
  /** The copies of instances with `keep` (keptFiles.ts); those of others end with their Pod. */
  copies: { pathOf(podName: string): string }
}

/** Holds a Pod until the files of `keep` are written back. */
export const KEEP_FINALIZER = 'quarterdeck.io/keep'

/** The value of RUN_ANNOTATION. Anyone who can change Pods can replace it, so it is checked when it is read. */
export const RunOptions = z.object({
  ready: z.string().optional(),
  port: z.number().int().min(1).max(65_535).optional(),
  stop: z.object({ command: z.string().optional(), timeoutSeconds: z.number().min(0).max(86_400) }),
  /** The paths that are written back to the deployment's directory after an orderly end. */
  keep: z.object({ dataDirectory: z.string(), paths: z.array(z.string()) }).optional(),
})
export type RunOptions = z.infer<typeof RunOptions>

/** Builds the Pod of an instance. It may run in a namespace that enforces the restricted Pod Security standard. */
export function podOf(spec: InstanceSpec, settings: PodSettings): V1Pod {
  const { podName, deployment, dataDirectory, copy, node, ready, port, stop, keep } = spec
  const run: RunOptions = { ready, port, stop, ...(keep && { keep: { dataDirectory, paths: keep } }) }
  const image = spec.image ?? settings.image
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name: podName,
      labels: { ...MANAGED_BY, [DEPLOYMENT_LABEL]: deployment, 'app.kubernetes.io/instance': podName },
      annotations: { ...ofState(settings.stateId), [RUN_ANNOTATION]: JSON.stringify(run) },
      ...(keep && { finalizers: [KEEP_FINALIZER] }),
    },
    spec: {
      restartPolicy: 'Never',
      terminationGracePeriodSeconds: KILL_AFTER_SECONDS,
      automountServiceAccountToken: false,
      enableServiceLinks: false,
      securityContext: {
        runAsNonRoot: true,
        runAsUser: settings.user,
        runAsGroup: settings.user,
        seccompProfile: { type: 'RuntimeDefault' },
      },
      ...(node !== undefined && { affinity: onNode(node) }),
      tolerations: ['node.kubernetes.io/not-ready', 'node.kubernetes.io/unreachable'].map((key) => ({
        key,
        operator: 'Exists',
        effect: 'NoExecute',
        tolerationSeconds: UNREACHABLE_SECONDS,
      })),
      ...(ready !== undefined && { readinessGates: [{ conditionType: READY_CONDITION }] }),
      ...(copy && { initContainers: [copyContainer(spec, settings)] }),
      containers: [
        {
          name: CONTAINER,
          image,
          command: spec.command.map(literal),
          workingDir: WORKING_DIRECTORY,
          stdin: true,
          env: environmentOf(spec),
          ...(port !== undefined && { ports: [{ containerPort: port }] }),
          resources: limitsOf(spec),
          securityContext: RESTRICTED,
          volumeMounts: mountsOf(spec, settings),
        },
      ],
      volumes: volumesOf(spec, settings),
    },
  }
}

const RESTRICTED = { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } }

/** Matches the node's name. A node's hostname label may differ from it. */
function onNode(node: string) {
  const matchFields = [{ key: 'metadata.name', operator: 'In', values: [node] }]
  return { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [{ matchFields }] } } }
}

/** Copies the directory, without the platform's internal files (see `share/internalNames.ts`). */
const COPY = `cp -a /source/. ${WORKING_DIRECTORY}/ && find ${WORKING_DIRECTORY} -name '.quarterdeck-*' -prune -exec rm -rf {} +`
/** Its time tells later which files the instance has changed, by the clock of the shared area. */
const MARK_COPY = ` && touch ${WORKING_DIRECTORY}/${COPY_MARKER}`

function copyContainer(spec: InstanceSpec, settings: PodSettings): V1Container {
  return {
    name: COPY_CONTAINER,
    image: settings.image,
    command: ['sh', '-c', spec.keep ? COPY + MARK_COPY : COPY],
    // Its last output says why it has failed.
    terminationMessagePolicy: 'FallbackToLogsOnError',
    // A quota of the namespace may demand limits of each container. A Pod reserves the larger of both, not their sum.
    resources: limitsOf(spec),
    securityContext: RESTRICTED,
    volumeMounts: [
      { name: 'share', mountPath: '/source', subPath: subPathOf(spec.dataDirectory), readOnly: true },
      dataMountOf(spec, settings),
    ],
  }
}

/** Kubernetes replaces `$(NAME)` in commands and values. `$$` stands for a dollar sign. */
function literal(text: string): string {
  return text.replaceAll('$', '$$$$')
}

function environmentOf({ env, hasPeers }: InstanceSpec): V1EnvVar[] {
  const { TZ } = process.env
  const values: Record<string, string> = {
    HOME: WORKING_DIRECTORY,
    LANG: 'C.UTF-8',
    ...(TZ && { TZ }),
    ...env,
    ...(hasPeers && { QUARTERDECK_PEERS: `${PEERS_DIRECTORY}/peers.json` }),
  }
  return [
    ...Object.entries(values).map(([name, value]) => ({ name, value: literal(value) })),
    { name: 'QUARTERDECK_NODE', valueFrom: { fieldRef: { fieldPath: 'spec.nodeName' } } },
  ]
}

function limitsOf({ limits: { cores, memoryBytes } }: InstanceSpec): V1Container['resources'] {
  const limits = {
    ...(cores !== undefined && { cpu: `${Math.round(cores * 1000)}m` }),
    ...(memoryBytes !== undefined && { memory: String(memoryBytes) }),
  }
  return { limits }
}

function mountsOf(spec: InstanceSpec, settings: PodSettings): V1VolumeMount[] {
  const { podName, mounts, hasPeers } = spec
  return [
    dataMountOf(spec, settings),
    ...mounts.map((path) => ({
      name: 'share',
      mountPath: SHARED_ROOT + path,
      subPath: subPathOf(path),
      readOnly: true,
    })),
    ...(hasPeers
      ? [
          {
            name: 'share',
            mountPath: PEERS_DIRECTORY,
            subPath: subPathOf(settings.peersDirectory(podName)),
            readOnly: true,
          },
        ]
      : []),
  ]
}

/** The working directory: the deployment's own, or a copy that ends with the Pod, or one whose files can be kept. */
function dataMountOf({ podName, dataDirectory, copy, keep }: InstanceSpec, { copies }: PodSettings): V1VolumeMount {
  if (copy && !keep) return { name: COPY_VOLUME, mountPath: WORKING_DIRECTORY }
  const path = copy ? copies.pathOf(podName) : dataDirectory
  return { name: 'share', mountPath: WORKING_DIRECTORY, subPath: subPathOf(path) }
}

function volumesOf({ copy, keep }: InstanceSpec, { claim }: PodSettings): V1Volume[] {
  return [
    { name: 'share', persistentVolumeClaim: { claimName: claim } },
    ...(copy && !keep ? [{ name: COPY_VOLUME, emptyDir: {} }] : []),
  ]
}

/** A path of the shared area as a path within the claim. */
function subPathOf(path: string): string {
  return path.replace(/^\//, '')
}
