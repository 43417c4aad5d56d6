import { isAbsolute, join, resolve } from 'node:path'
import { z } from 'zod'
import { parseMongoUrl } from './databases/mongo/mongoUrl'
import { StartError } from './errors'
import { missingOpenIdSettings, openIdSettings, openIdSettingsOf, type OpenIdSettings } from './openIdSettings'
import { isNetwork, isOrigin, isOwnPath, isPublicUrl, isWebAddress, publicPath } from './settingFormats'

const postgresUrl = z
  .url({ protocol: /^postgres(?:ql)?$/, error: 'must be a URL such as postgresql://user:password@host:5432/database' })
  .optional()
const list = (check: (item: string) => boolean, error: string) =>
  z
    .string()
    .transform((text) =>
      text
        .split(',')
        .map((item) => item.trim())
        .filter(Boolean),
    )
    .refine((items) => items.every(check), error)

interface Setting {
  schema: z.ZodType
  /** The default, in the format of the environment variable. */
  default?: string
  /** The default as text, if it is computed. */
  defaultText?: string
  description: string
}

/** Every setting, in the order of the README's table, which is generated from this list. */
export const settings = {
  QUARTERDECK_HOST: {
    schema: z.string().min(1, 'must be an address to listen on'),
    default: '127.0.0.1',
    description: 'Address to listen on. `0.0.0.0` listens on every network.',
  },
  QUARTERDECK_PORT: {
    schema: z
      .string()
      .regex(/^\d{1,5}$/, 'must be a port from 0 to 65535')
      .transform(Number)
      .refine((port) => port <= 65_535, 'must be a port from 0 to 65535'),
    default: '8080',
    description: 'Port to listen on. 0 takes any free one.',
  },
  QUARTERDECK_DATA_DIR: {
    schema: z
      .string()
      .min(1, 'must be a directory')
      .transform((path) => resolve(path)),
    default: './data',
    description: 'Where the platform keeps everything of its own: PostgreSQL, keys, logs of instances. Back this up.',
  },
  QUARTERDECK_SHARE_DIR: {
    schema: z
      .string()
      .min(1, 'must be a directory')
      .transform((path) => resolve(path))
      .optional(),
    defaultText: '`nfsshare` in the data directory',
    description: 'The shared file area, shown as /nfsshare. Any mounted directory, NFS for example.',
  },
  QUARTERDECK_STATE_URL: {
    schema: postgresUrl,
    defaultText: 'embedded PostgreSQL',
    description: 'PostgreSQL database for the platform’s own state.',
  },
  QUARTERDECK_SQL_URL: {
    schema: postgresUrl,
    defaultText: 'embedded PostgreSQL',
    description: 'An administrator’s URL of the PostgreSQL server that users’ databases are created on.',
  },
  QUARTERDECK_MONGO_URL: {
    schema: z
      .string()
      .refine((url) => parseMongoUrl(url) !== undefined, 'must be a URL such as mongodb://user:password@host:27017')
      .optional(),
    defaultText: 'a `mongod` or `ferretdb` on the PATH',
    description: 'An administrator’s URL of the MongoDB server that users’ databases are created on.',
  },
  QUARTERDECK_RUNTIME: {
    schema: z.enum(['local', 'kubernetes'], 'must be local or kubernetes'),
    default: 'local',
    description:
      'Where instances run: on this machine (`local`), or as Pods of a cluster (`kubernetes`): the one of `KUBECONFIG`, or the one Quarterdeck runs in.',
  },
  QUARTERDECK_NAMESPACE: {
    schema: z
      .string()
      .regex(/^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/, 'must be a namespace: lower-case letters, digits and dashes'),
    default: 'quarterdeck',
    description: 'Kubernetes: the namespace of instances.',
  },
  QUARTERDECK_SHARE_CLAIM: {
    schema: z.string().regex(/^[a-z0-9](?:[a-z0-9.-]{0,251}[a-z0-9])?$/, 'must be the name of a PersistentVolumeClaim'),
    default: 'quarterdeck-share',
    description:
      'Kubernetes: the ReadWriteMany claim of the shared area, which the platform itself mounts at `QUARTERDECK_SHARE_DIR`.',
  },
  QUARTERDECK_IMAGE: {
    schema: z.string().regex(/^\S{1,255}$/, 'must be the name of an image such as eclipse-temurin:21-jre'),
    default: 'eclipse-temurin:21-jre',
    description:
      'Kubernetes: the image of instances without `run.image`. It also copies files for `data: copy`, and needs `sh`, `cp` and `find` for that.',
  },
  QUARTERDECK_ISOLATION: {
    schema: z.enum(['auto', 'required', 'off'], 'must be auto, required or off'),
    default: 'auto',
    description:
      'Whether instances run in containers (`runc` and `conmon`): if that works (`auto`), always (`required`) or never (`off`).',
  },
  QUARTERDECK_PROGRAMS: {
    schema: list(isAbsolute, 'must be a comma-separated list of absolute paths such as /home/mc/.sdkman/candidates'),
    default: '',
    defaultText: 'none',
    description: 'Further directories of programs that contained instances may use, read-only, separated by commas.',
  },
  QUARTERDECK_UPLOAD_LIMIT: {
    schema: z
      .string()
      .regex(/^[1-9]\d{0,4}(?:Mi|Gi|Ti)$/, 'must be a size such as 10Gi')
      .transform(
        (size) =>
          Number(size.slice(0, -2)) * { Mi: 2 ** 20, Gi: 2 ** 30, Ti: 2 ** 40 }[size.slice(-2) as 'Mi' | 'Gi' | 'Ti'],
      ),
    default: '10Gi',
    description: 'The largest file that may be uploaded.',
  },
  QUARTERDECK_DASHBOARD_ROLE: {
    schema: z.string().regex(/^[A-Za-z0-9:._-]{1,253}$/, 'must be the name of a ClusterRole such as view'),
    default: 'view',
    description:
      'ClusterRole that tokens for the Kubernetes dashboard are bound to. The cluster is the one of `KUBECONFIG`, or the one Quarterdeck runs in.',
  },
  QUARTERDECK_DASHBOARD_HOST: {
    schema: z
      .string()
      .transform((host) => (host.includes('://') ? host : `https://${host}`))
      .refine(isWebAddress, 'must be an address such as dashboard.example.com or https://dashboard.example.com')
      .optional(),
    defaultText: 'none',
    description: 'Where the Kubernetes dashboard is, for the link to it.',
  },
  QUARTERDECK_PUBLIC_URL: {
    schema: z
      .string()
      .transform((url) => (url.endsWith('/') ? url.slice(0, -1) : url))
      .refine(isPublicUrl, 'must be an address such as https://example.com or https://example.com/console')
      .refine(
        (url) => !isOwnPath(publicPath(url)),
        'has a path that begins like one of the console’s own pages or calls: use another one',
      )
      .optional(),
    defaultText: 'the address it listens on',
    description:
      'The address that browsers open, if it is not the one it listens on: `https://example.com`, or with a path `https://example.com/console`. Pages of its origin may open sockets.',
  },
  QUARTERDECK_ORIGINS: {
    schema: list(isOrigin, 'must be a comma-separated list of origins such as https://console.example.com'),
    default: '',
    defaultText: 'the page’s own',
    description: 'Further origins that may open sockets, separated by commas.',
  },
  QUARTERDECK_TRUSTED_PROXIES: {
    schema: list(isNetwork, 'must be a comma-separated list of addresses or networks such as 10.0.0.0/8'),
    default: '',
    defaultText: 'none',
    description: 'Reverse proxies whose `X-Forwarded-For` and `-Proto` are believed, separated by commas.',
  },
  QUARTERDECK_FIRST_INVITE: {
    schema: z
      .string()
      .regex(/^[A-Za-z0-9_-]{8,64}$/, 'must be 8 to 64 letters, digits, dashes or underscores')
      .optional(),
    defaultText: 'random',
    description: 'The first invite code, for automation. It is used only while there are no users.',
  },
  ...openIdSettings,
  QUARTERDECK_LOG_LEVEL: {
    schema: z.enum(
      ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'],
      'must be fatal, error, warn, info, debug, trace or silent',
    ),
    default: 'info',
    description: 'How much is logged (JSON lines on standard error).',
  },
  QUARTERDECK_SAMPLE: {
    schema: z.enum(['on', 'off'], 'must be on or off').transform((word) => word === 'on'),
    default: 'on',
    description: 'Whether the first start with an empty data directory creates a sample deployment.',
  },
} satisfies Record<string, Setting>

type Values = { [Name in keyof typeof settings]: z.output<(typeof settings)[Name]['schema']> }

export interface Settings {
  host: string
  port: number
  dataDir: string
  shareDir: string
  stateUrl: string | undefined
  sqlUrl: string | undefined
  mongoUrl: string | undefined
  runtime: 'local' | 'kubernetes'
  namespace: string
  shareClaim: string
  image: string
  isolation: 'auto' | 'required' | 'off'
  /** Absolute paths. */
  programs: string[]
  /** Directories to search for programs, in the format of PATH. */
  programPath: string
  /** Bytes. */
  uploadLimit: number
  /**
   * The cluster of the dashboard and of instances: the files of KUBECONFIG, or the cluster that the platform runs in.
   */
  cluster: { kubeconfig: string } | 'own' | undefined
  dashboardRole: string
  dashboardHost: string | undefined
  /** The address that browsers open, without a trailing slash. */
  publicUrl: string | undefined
  /** The path of `publicUrl`, such as `/console`; empty if it has none. */
  basePath: string
  /** Further origins that may open sockets, in addition to the page's own. */
  origins: string[]
  trustedProxies: string[]
  firstInvite: string | undefined
  /** Undefined if OpenID Connect is not configured. */
  openId: OpenIdSettings | undefined
  logLevel: string
  sample: boolean
}

/** Names of the command line and of the development server, which may be set on the same machine. */
const OTHER_NAMES = [
  'QUARTERDECK_SERVER',
  'QUARTERDECK_KEY',
  'QUARTERDECK_PLATFORM_URL',
  'QUARTERDECK_DEV_PORT',
  'QUARTERDECK_BUILD',
]

/**
 * Reads the settings from environment variables; an empty variable counts as absent.
 * @throws StartError with one line for each invalid value and each unknown `QUARTERDECK_` name
 */
export function readSettings(environment: Record<string, string | undefined>): Settings {
  const lines: string[] = []
  const values: Record<string, unknown> = {}
  for (const [name, setting] of Object.entries<Setting>(settings)) {
    const result = setting.schema.safeParse(environment[name] || setting.default)
    if (result.success) values[name] = result.data
    else lines.push(`${name}: ${result.error.issues[0]?.message ?? 'is not valid'}`)
  }
  const known = [...Object.keys(settings), ...OTHER_NAMES]
  for (const name of Object.keys(environment)) {
    if (name.startsWith('QUARTERDECK_') && !known.includes(name))
      lines.push(`${name}: is not a setting of this version`)
  }
  lines.push(...missingOpenIdSettings(environment))
  if (lines.length > 0) throw new StartError(lines)
  const read = values as Values
  const publicUrl = read.QUARTERDECK_PUBLIC_URL
  return {
    // Fastify would open a second server for the ::1 of `localhost`, which http/limits/connections.ts does not limit.
    host: read.QUARTERDECK_HOST === 'localhost' ? '127.0.0.1' : read.QUARTERDECK_HOST,
    port: read.QUARTERDECK_PORT,
    dataDir: read.QUARTERDECK_DATA_DIR,
    shareDir: read.QUARTERDECK_SHARE_DIR ?? join(read.QUARTERDECK_DATA_DIR, 'nfsshare'),
    stateUrl: read.QUARTERDECK_STATE_URL,
    sqlUrl: read.QUARTERDECK_SQL_URL,
    mongoUrl: read.QUARTERDECK_MONGO_URL,
    runtime: read.QUARTERDECK_RUNTIME,
    namespace: read.QUARTERDECK_NAMESPACE,
    shareClaim: read.QUARTERDECK_SHARE_CLAIM,
    image: read.QUARTERDECK_IMAGE,
    isolation: read.QUARTERDECK_ISOLATION,
    programs: read.QUARTERDECK_PROGRAMS,
    programPath: environment.PATH ?? '',
    uploadLimit: read.QUARTERDECK_UPLOAD_LIMIT,
    cluster: environment.KUBECONFIG
      ? { kubeconfig: environment.KUBECONFIG }
      : environment.KUBERNETES_SERVICE_HOST
        ? 'own'
        : undefined,
    dashboardRole: read.QUARTERDECK_DASHBOARD_ROLE,
    dashboardHost: read.QUARTERDECK_DASHBOARD_HOST,
    publicUrl,
    basePath: publicPath(publicUrl ?? ''),
    origins:
      publicUrl === undefined ? read.QUARTERDECK_ORIGINS : [...read.QUARTERDECK_ORIGINS, new URL(publicUrl).origin],
    trustedProxies: read.QUARTERDECK_TRUSTED_PROXIES,
    firstInvite: read.QUARTERDECK_FIRST_INVITE,
    openId: openIdSettingsOf(read),
    logLevel: read.QUARTERDECK_LOG_LEVEL,
    sample: read.QUARTERDECK_SAMPLE,
  }
}

/** The README's settings table, in Markdown. */
export function settingsTable(): string {
  const rows = Object.entries<Setting>(settings).map(
    ([name, { default: value, defaultText, description }]) =>
      `| \`${name}\` | ${defaultText ?? `\`${value}\``} | ${description} |`,
  )
  return ['| Setting | Default | What it does |', '|---|---|---|', ...rows].join('\n')
}
