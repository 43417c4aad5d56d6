import { z } from 'zod'
import { Disk } from './disk'
import { success } from './envelope'
import { Instance } from './instance'
import { DEPLOYMENT_NAME_PATTERN, DEPLOYMENT_TYPES, NO_NUL, NUL_FREE, WELL_FORMED } from './pageRules'

export const DeploymentType = z.enum(DEPLOYMENT_TYPES)
export type DeploymentType = z.infer<typeof DeploymentType>

export const Deployment = z.object({
  name: z.string(),
  /** Index into DEPLOYMENT_TYPES. */
  typeIndex: z
    .number()
    .int()
    .min(0)
    .max(DEPLOYMENT_TYPES.length - 1),
  enabled: z.boolean(),
  path: z.string().describe("The deployment's directory as an API path: `/nfsshare/lobby`."),
  dataDirectory: z.string().describe('The same, relative to the shared root: `/lobby`.'),
  description: z.string().optional(),
  instances: z.array(Instance).optional().describe('Only where the request asks for them.'),
})
export type Deployment = z.infer<typeof Deployment>

/** With `instances=true`, each deployment comes with its instances, for the overview (our extra). */
export const DeploymentsQuery = z.strictObject({ instances: z.enum(['true', 'false']).optional() })

export const DeploymentsResponse = success(
  z.object({
    deployments: z.array(Deployment),
    // Our extras, with `instances=true`: the overview is one call, whose ETag changes only with what it shows.
    managerSilent: z.boolean().optional().describe('Whether the last heartbeat of the manager is too long ago.'),
    clusterSilentSince: z
      .number()
      .optional()
      .describe(
        'When the Kubernetes cluster last answered, in milliseconds since the epoch, if it does not answer any more: instances are as last known. Missing while it answers.',
      ),
    disks: z.array(Disk).optional().describe('Disks whose level is not `ok`; missing if there are none.'),
  }),
)
export type DeploymentsResponse = z.infer<typeof DeploymentsResponse>

export const DeploymentName = z
  .string()
  .regex(
    DEPLOYMENT_NAME_PATTERN,
    'must be 1 to 40 lower-case letters, digits or dashes, not starting or ending with a dash',
  )

/** A persistent deployment also needs a node. */
export const CreateDeployment = z.strictObject({
  name: DeploymentName,
  type: DeploymentType,
  node: z.string().min(1).max(253).optional(),
})
export type CreateDeployment = z.infer<typeof CreateDeployment>

export const Toggle = z.strictObject({ enabled: z.boolean() })
export type Toggle = z.infer<typeof Toggle>

/** Identifies a stored text. Opaque: only to be compared. */
const Revision = z.string().min(1).max(128)

/** The YAML text. */
export const Configuration = z.strictObject({
  content: z
    .string()
    .max(256 * 1024, 'must have at most 256 KiB')
    .regex(NUL_FREE, NO_NUL),
  /** Our extra. */
  revision: Revision.optional().describe(
    'In a save, the revision that the text is based on: it fails with CONFLICT if another one is stored.',
  ),
})
export type Configuration = z.infer<typeof Configuration>
export const ConfigurationResponse = success(
  Configuration.extend({
    /** Our extra. */
    warnings: z.array(z.string()).optional().describe('Problems of the stored text, for the user.'),
  }),
)
export type ConfigurationResponse = z.infer<typeof ConfigurationResponse>
/** Response of a save: `revision` is that of the stored text, to be sent with the next save (our extra). */
export const SavedConfigurationResponse = success(
  z.object({
    revision: Revision.optional(),
    /** Our extra. */
    warnings: z
      .array(z.string())
      .optional()
      .describe('For the user: ports that other deployments use, limits that are not enforced. The text was saved.'),
  }),
)
export type SavedConfigurationResponse = z.infer<typeof SavedConfigurationResponse>

const Text = (max: number) =>
  z
    .string()
    .max(max, `must have at most ${max} characters`)
    .regex(NUL_FREE, NO_NUL)
    .regex(WELL_FORMED, 'must be valid Unicode')

/** A directory under the shared root: absolute, without empty or dot segments. */
const DataDirectory = Text(255).regex(
  /^(?:\/(?!\.{1,2}(?:\/|$))[^/\\]+)+$/,
  'must be a path under the shared root such as /lobby',
)

/** A path within a deployment's directory. `*` matches any characters of one name. */
const KeptPath = Text(255).regex(
  /^(?!\.{0,2}(?:\/|$))[^/\\]+(?:\/(?!\.{0,2}(?:\/|$))[^/\\]+)*$/,
  'must be a path within the directory such as whitelist.json or plugins/*/data',
)

const MAX_PORT = 65_535

const Run = z.strictObject({
  /** Container mc only: started as `java <javaArgs> -jar <jar> nogui`. */
  jar: Text(255).min(1).optional(),
  javaArgs: z.array(Text(1024)).max(64).optional(),
  /** Program and arguments. Required for container process; for mc it replaces java. */
  command: z
    .array(Text(4096))
    .min(1)
    .max(64)
    .refine(([program]) => program !== '', 'must begin with a program')
    .optional(),
  env: z
    .record(
      z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/, 'must be a name of letters, digits and underscores'),
      z.union([Text(8192), z.number(), z.boolean()]).transform(String),
    )
    .optional(),
  /** Kubernetes only. */
  image: Text(255).min(1).optional(),
  /** The port for players. Further instances of a scalable deployment use the ports after it. */
  port: z.number().int().min(1).max(MAX_PORT).optional(),
})

const Instances = z
  .strictObject({
    min: z.number().int().min(0).max(100).default(1),
    max: z.number().int().min(1).max(100).default(1),
    playersPerInstance: z.number().int().min(1).max(10_000).default(50),
  })
  .refine(({ min, max }) => min <= max, { message: 'min must not be greater than max', path: ['min'] })

/** The parsed YAML of a deployment (decisions §4). The text is the source of truth. */
export const Definition = z
  .strictObject({
    name: DeploymentName,
    type: DeploymentType,
    description: Text(200).optional(),
    dataDirectory: DataDirectory,
    /** Where instances write (decisions §13): see `dataOf`. */
    data: z.enum(['copy', 'shared'], 'must be copy or shared').optional(),
    /** With `data: copy`: paths that are written back to the deployment's directory after an orderly stop. */
    keep: z.array(KeptPath).max(64, 'must be at most 64 paths').optional(),
    /** Additional directories of the shared area that instances may read. */
    mounts: z.array(DataDirectory).max(16, 'must be at most 16 directories').optional(),
    /** Persistent only. */
    node: Text(253).min(1).optional(),
    run: Run,
    stop: z
      .strictObject({
        /** Written to the instance's standard input. */
        command: Text(256).min(1).optional(),
        /** Time between the stop command and SIGTERM. */
        timeoutSeconds: z.number().int().min(1).max(3600).default(30),
      })
      .default({ timeoutSeconds: 30 }),
    /** How players leave before a stop that can wait (decisions §14). */
    drain: z
      .strictObject({
        /** Written to the instance's standard input. */
        command: Text(256).min(1).optional(),
        /** Deadline between the command and the stop. */
        timeoutSeconds: z.number().int().min(1).max(86_400).default(600),
      })
      .optional(),
    /** Deployments whose instances are listed in the peers file of this deployment's instances. */
    discover: z.array(DeploymentName).max(64).optional(),
    /** First words of console commands without secrets, which action logs contain in full (decisions §10). */
    plainCommands: z
      .array(
        z
          .string()
          .regex(/^[a-z0-9][\w:.-]{0,31}$/i, 'must be the first word of a command such as claim, without a slash'),
      )
      .max(200, 'must be at most 200 words')
      .default([]),
    /** Kubernetes only: how the deployment is reached from outside of the cluster (see `exposeOf`). */
    expose: z.enum(['none', 'nodePort', 'loadBalancer'], 'must be none, nodePort or loadBalancer').optional(),
    /** A regular expression: a matching console line changes STARTING to RUNNING. */
    ready: Text(500).min(1).refine(isRegularExpression, 'must be a valid regular expression').optional(),
    /** After this time in STARTING, the instance is reported as not ready. It has no other effect. */
    readyTimeoutSeconds: z.number().int().min(1).max(86_400).default(300),
    /** Scalable only. */
    instances: Instances.optional(),
    resources: z
      .strictObject({
        /** mCPU such as `1000m`, or cores such as `1.5`. */
        cpu: z
          .union([z.string(), z.number()])
          .transform(String)
          .pipe(z.string().regex(/^(?:[1-9]\d{0,6}m|(?=.*[1-9])\d{1,3}(?:\.\d{1,3})?)$/, 'must be such as 500m or 1.5'))
          .optional(),
        /** Bytes with a binary suffix: `512Mi`, `1Gi`. */
        memory: z
          .string()
          .regex(/^[1-9]\d{0,9}(?:Ki|Mi|Gi|Ti)$/, 'must be such as 512Mi or 1Gi')
          .optional(),
      })
      .optional(),
  })
  .superRefine((definition, context) => {
    const report = (path: string[], message: string) => context.addIssue({ code: 'custom', path, message })
    const { type, run } = definition
    if (type === 'process' && !run.command) report(['run', 'command'], 'is required for a process')
    if (type === 'process' && run.jar) report(['run', 'jar'], 'is not for a process; use command')
    if (type !== 'process' && !run.jar && !run.command) report(['run', 'jar'], 'is required')
    if (type === 'persistent' && !definition.node) report(['node'], 'is required for a persistent deployment')
    if (type !== 'persistent' && definition.node) report(['node'], 'is for a persistent deployment only')
    if (type === 'process' && definition.drain) report(['drain'], 'is not for a process: it has no players')
    const lastPort = (run.port ?? 0) + (definition.instances?.max ?? 1) - 1
    if (lastPort > MAX_PORT)
      report(
        ['run', 'port'],
        `leaves no room for ${definition.instances?.max} instances: the last one would have port ${lastPort}`,
      )
    // Two programs that write to one directory damage each other's files.
    if (definition.data === 'shared' && (definition.instances?.max ?? 1) > 1)
      report(['data'], 'must be copy where there may be more than one instance (instances.max)')
    if (definition.keep && dataOf(definition) === 'shared')
      report(['keep'], 'is for data: copy; with data: shared all is kept')
    if (type !== 'scalable' && definition.instances) report(['instances'], 'is for a scalable deployment only')
  })
export type Definition = z.infer<typeof Definition>

/**
 * Returns where instances write. `shared`: to the deployment's directory. `copy`: to a copy that each start creates
 * again, so that everything except `keep` is lost.
 */
export function dataOf({ type, data }: Pick<Definition, 'type' | 'data'>): 'copy' | 'shared' {
  return data ?? (type === 'persistent' || type === 'process' ? 'shared' : 'copy')
}

/** Returns how a deployment is reached from outside of a Kubernetes cluster (decisions §15). */
export function exposeOf({ type, expose }: Pick<Definition, 'type' | 'expose'>): NonNullable<Definition['expose']> {
  return expose ?? (type === 'proxy' ? 'loadBalancer' : 'none')
}

function isRegularExpression(text: string): boolean {
  try {
    return Boolean(new RegExp(text))
  } catch {
    return false
  }
}
