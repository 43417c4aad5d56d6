import { z } from 'zod'
import { success } from './envelope'
import { DEPLOYMENT_NAME_PATTERN, hasNoNul, NO_NUL } from './rules'

/** In index order: `typeIndex` on the wire is the place in this list (product §3). */
export const DEPLOYMENT_TYPES = ['proxy', 'persistent', 'scalable', 'process'] as const
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
  /** Where the deployment's files are, as the wire writes paths: `/nfsshare/lobby`. */
  path: z.string(),
  /** Relative to the shared root: `/lobby`. */
  dataDirectory: z.string(),
  description: z.string().optional(),
})
export type Deployment = z.infer<typeof Deployment>

export const DeploymentsAnswer = success(z.object({ deployments: z.array(Deployment) }))
export type DeploymentsAnswer = z.infer<typeof DeploymentsAnswer>

export const DeploymentName = z
  .string()
  .regex(
    DEPLOYMENT_NAME_PATTERN,
    'must be 1 to 40 lower-case letters, digits or dashes, not starting or ending with a dash',
  )

/** `type` is one of DEPLOYMENT_TYPES; a persistent one also needs a node. */
export const CreateDeployment = z.strictObject({
  name: DeploymentName,
  type: DeploymentType,
  node: z.string().min(1).max(253).optional(),
})
export type CreateDeployment = z.infer<typeof CreateDeployment>

export const Toggle = z.strictObject({ enabled: z.boolean() })
export type Toggle = z.infer<typeof Toggle>

/** Tells one stored text from another; to be compared, and nothing else. */
const Revision = z.string().min(1).max(128)

/** The YAML text, read and written. */
export const Configuration = z.strictObject({
  content: z
    .string()
    .max(256 * 1024, 'must have at most 256 KiB')
    .refine(hasNoNul, NO_NUL),
  /** Read: of this text. Written: of the text that it was made from; the save is refused with CONFLICT when another is stored by now (our extra). */
  revision: Revision.optional(),
})
export type Configuration = z.infer<typeof Configuration>
export const ConfigurationAnswer = success(
  Configuration.extend({
    /** What is not as it should be with the stored text, for people (our extra). */
    warnings: z.array(z.string()).optional(),
  }),
)
export type ConfigurationAnswer = z.infer<typeof ConfigurationAnswer>
/** Of a save: the revision of what is stored now, which the next save sends (our extra). */
export const SavedConfigurationAnswer = success(
  z.object({
    revision: Revision.optional(),
    /** What was saved all the same, for people: ports that other deployments have as well, limits that are not enforced here (our extra). */
    warnings: z.array(z.string()).optional(),
  }),
)
export type SavedConfigurationAnswer = z.infer<typeof SavedConfigurationAnswer>

const Text = (max: number) => z.string().max(max, `must have at most ${max} characters`).refine(hasNoNul, NO_NUL)

/** A directory under the shared root: absolute, no empty or dot segments. */
const DataDirectory = Text(255).regex(
  /^(?:\/(?!\.{1,2}(?:\/|$))[^/\\]+)+$/,
  'must be a path under the shared root such as /lobby',
)

/** Within a deployment's directory. `*` stands for any characters of one name. */
const KeptPath = Text(255).regex(
  /^(?!\.{0,2}(?:\/|$))[^/\\]+(?:\/(?!\.{0,2}(?:\/|$))[^/\\]+)*$/,
  'must be a path within the directory such as whitelist.json or plugins/*/data',
)

const MAX_PORT = 65_535

const Run = z.strictObject({
  /** Container mc: started as `java <javaArgs> -jar <jar> nogui`. */
  jar: Text(255).min(1).optional(),
  javaArgs: z.array(Text(1024)).max(64).optional(),
  /** Container process: the program and its arguments. Also allowed for mc, in place of java. */
  command: z.array(Text(4096).min(1)).min(1).max(64).optional(),
  env: z
    .record(
      z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/, 'must be a name of letters, digits and underscores'),
      z.union([Text(8192), z.number(), z.boolean()]).transform(String),
    )
    .optional(),
  /** Kubernetes only. */
  image: Text(255).min(1).optional(),
  /** Where players connect. Further instances of a scalable deployment have the ports after it. */
  port: z.number().int().min(1).max(MAX_PORT).optional(),
})

const Instances = z
  .strictObject({
    min: z.number().int().min(0).max(100).default(1),
    max: z.number().int().min(1).max(100).default(1),
    playersPerInstance: z.number().int().min(1).max(10_000).default(50),
  })
  .refine(({ min, max }) => min <= max, { message: 'min must not be greater than max', path: ['min'] })

/** What a deployment's YAML says (decisions §4). The text is the source of truth; this is its reading. */
export const Definition = z
  .strictObject({
    name: DeploymentName,
    type: DeploymentType,
    description: Text(200).optional(),
    dataDirectory: DataDirectory,
    /** Where instances write (decisions §13): see `dataOf`. */
    data: z.enum(['copy', 'shared'], 'must be copy or shared').optional(),
    /** With `data: copy`: what of its copy is written back to the deployment's directory after an orderly stop. */
    keep: z.array(KeptPath).max(64, 'must be at most 64 paths').optional(),
    /** Further directories of the shared area, which instances may read. */
    mounts: z.array(DataDirectory).max(16, 'must be at most 16 directories').optional(),
    /** Persistent only. */
    node: Text(253).min(1).optional(),
    run: Run,
    stop: z
      .strictObject({
        /** Written to the instance's standard input. */
        command: Text(256).min(1).optional(),
        /** From the stop command to SIGTERM. In seconds. */
        timeoutSeconds: z.number().int().min(1).max(3600).default(30),
      })
      .default({ timeoutSeconds: 30 }),
    /** How its players leave before an end that can wait (decisions §14). */
    drain: z
      .strictObject({
        /** Written to the instance's standard input. */
        command: Text(256).min(1).optional(),
        /** From the command to the end, at most. In seconds. */
        timeoutSeconds: z.number().int().min(1).max(86_400).default(600),
      })
      .optional(),
    /** The deployments whose instances its own are told of, in a file. */
    discover: z.array(DeploymentName).max(64).optional(),
    /** First words of console commands that an action log keeps whole: their arguments hold no secrets (decisions §10). */
    plainCommands: z
      .array(
        z
          .string()
          .regex(/^[a-z0-9][\w:.-]{0,31}$/i, 'must be the first word of a command such as claim, without a slash'),
      )
      .max(200, 'must be at most 200 words')
      .default([]),
    /** A regular expression: a console line that matches moves STARTING to RUNNING. */
    ready: Text(500).min(1).refine(isRegularExpression, 'must be a valid regular expression').optional(),
    /** From a start until it is told that the instance is not ready yet. Nothing else follows from it. */
    readyTimeoutSeconds: z.number().int().min(1).max(86_400).default(300),
    /** Scalable only. */
    instances: Instances.optional(),
    resources: z
      .strictObject({
        /** mCPU such as `1000m`, or cores such as `1.5`. */
        cpu: z
          .union([z.string(), z.number()])
          .transform(String)
          .pipe(z.string().regex(/^(?:[1-9]\d{0,6}m|\d{1,3}(?:\.\d{1,3})?)$/, 'must be such as 500m or 1.5'))
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
    // A maximum of one: two programs on one directory damage each other's files.
    if (definition.data === 'shared' && (definition.instances?.max ?? 1) > 1)
      report(['data'], 'must be copy where there may be more than one instance (instances.max)')
    if (definition.keep && dataOf(definition) === 'shared')
      report(['keep'], 'is for data: copy; with data: shared all is kept')
    if (type !== 'scalable' && definition.instances) report(['instances'], 'is for a scalable deployment only')
  })
export type Definition = z.infer<typeof Definition>

/**
 * Where the instances of a definition write: `shared`, in the deployment's directory itself; `copy`, each in a copy of it that is
 * made at its start, so that what it writes is gone at the next one.
 */
export function dataOf({ type, data }: Pick<Definition, 'type' | 'data'>): 'copy' | 'shared' {
  return data ?? (type === 'persistent' || type === 'process' ? 'shared' : 'copy')
}

function isRegularExpression(text: string): boolean {
  try {
    return Boolean(new RegExp(text))
  } catch {
    return false
  }
}
