import type { ColumnType, Generated, GeneratedAlways } from 'kysely'
import type { Right, Scope, UserAccess } from '../../contract/access'
import type { ActivityKind } from '../../contract/admin'
import type { DatabaseType } from '../../contract/database'
import type { CrashCapsule, LastExit } from '../../contract/instance'

/** Written as JSON text, read as its value. */
type Json<Value> = ColumnType<Value | null, string | null | undefined, string | null>

/** The tables after the last migration. */
export interface State {
  users: {
    id: Generated<number>
    username: string
    /** Null for an account that was created by OpenID Connect. */
    password_hash: string | null
    /** At most one of these flags is set. Neither: an operator. */
    is_admin: boolean
    is_limited: Generated<boolean>
    created_at: Generated<Date>
    last_sign_in_at: Generated<Date | null>
    last_sign_in_address: Generated<string | null>
  }
  grants: { user_id: number; deployment: string; rights: Right[] }
  invites: {
    code: string
    message: string
    is_first: Generated<boolean>
    created_at: Generated<Date>
    expires_at: Date
    used_by: string | null
    revoked: Generated<boolean>
    /** The rights of the invited user. Null: an operator. */
    access: Json<UserAccess>
    /** The administrator who created it. Null: unknown, or the platform. */
    made_by: number | null
  }
  api_keys: {
    id: string
    user_id: number
    name: string
    prefix: string
    key_hash: string
    scopes: Scope[]
    /** False: only the deployments in `api_key_deployments`. */
    all_deployments: boolean
    created_at: Generated<Date>
    expires_at: Date | null
    last_used_at: Date | null
    window_start: Generated<Date>
    window_calls: Generated<number>
  }
  api_key_deployments: { key_id: string; deployment: string }
  sessions: {
    id: string
    user_id: number
    created_at: Generated<Date>
    expires_at: Date
    last_used_at: Generated<Date>
    device: string
    address: string
    /** The user's previous sign-in, before the one that opened this session. */
    previous_sign_in_at: Generated<Date | null>
    previous_sign_in_address: Generated<string | null>
  }
  /** Authenticator apps (TOTP). */
  authenticators: {
    id: Generated<string>
    user_id: number
    name: string
    /** Sealed (see secrets.ts). */
    secret: string
    last_step: number
    created_at: Generated<Date>
    last_used_at: Date | null
  }
  /** WebAuthn credentials. */
  passkeys: {
    id: string
    user_id: number
    name: string
    /** Base64url. */
    credential_id: string
    public_key: Buffer
    /** A bigint, which the driver returns as text. */
    counter: ColumnType<string, number, number>
    transports: string[]
    /** The domain that the passkey was created for. */
    rp_id: string
    created_at: Generated<Date>
    last_used_at: Date | null
  }
  recovery_codes: { user_id: number; code_hash: string }
  /** Single-use challenges: of WebAuthn, proofs of identity, and unconfirmed secrets. */
  challenges: {
    hash: string
    purpose: string
    user_id: number | null
    session_id: string | null
    step_hash: string | null
    /** Sealed (see secrets.ts). */
    secret: string | null
    tries: Generated<number>
    expires_at: Date
  }
  openid_identities: { issuer: string; subject: string; user_id: number; made_account: boolean }
  openid_steps: {
    state_hash: string
    browser_hash: string
    nonce: string
    verifier: string
    redirect_uri: string
    origin: string
    /** The session of the user who connects their account. Null: a sign-in. */
    session_id: string | null
    expires_at: Date
  }
  login_steps: { token_hash: string; user_id: number; expires_at: Date; tries: Generated<number> }
  registrations: {
    token_hash: string
    invite_code: string
    expires_at: Date
    tries: Generated<number>
    username: string | null
    password_hash: string | null
    totp_secret: string | null
  }
  tries: { key: string; count: number; resets_at: Date }
  wrong_codes: { user_id: number; count: number; first_at: Date; blocked_until: Date | null }
  facts: { name: string; value: string }
  deployments: {
    name: string
    type: string
    content: string
    enabled: Generated<boolean>
    deleting: Generated<boolean>
    directory_seen: string | null
    directory_mounted: Generated<boolean>
    mounts_mounted: Generated<string[]>
    created_at: Generated<Date>
  }
  instances: {
    uid: string
    deployment: string
    name: string
    pod_name: string
    slot: number
    /** `gone`: to be stopped and deleted. */
    wanted: Generated<'running' | 'stopped' | 'gone'>
    blocked_reason: string | null
    handled_run: string | null
    crashes: ColumnType<number[], string | undefined, string>
    start_after: Date | null
    restart_run: string | null
    restarts: Generated<number>
    last_exit: Json<LastExit>
    crash: Json<CrashCapsule>
    crashed_at: Date | null
    late_run: string | null
    block_lifts: Generated<boolean>
    drain_run: string | null
    drain_then: 'stop' | 'restart' | 'gone' | null
    drain_since: Date | null
    created_at: Generated<Date>
  }
  metrics: { pod_name: string; at: Date; cpu: number; memory: number }
  consoles: {
    pod_name: string
    /** Bigints, which the driver returns as text. */
    last: Generated<string>
    run_id: string | null
    run_first: Generated<string>
    read_to: string | null
    read_count: Generated<number>
    complete_run: string | null
    reader: string | null
    reader_until: Generated<Date>
  }
  console_chunks: { pod_name: string; first: string; last: string; lines: string }
  heartbeats: { name: string; at: Date }
  /** Each belongs to a session or to an API key. */
  download_tickets: {
    token_hash: string
    session_id: string | null
    key_id: string | null
    path: string
    expires_at: Date
  }
  databases: {
    id: string
    type: DatabaseType
    name: string
    physical_name: string
    username: string
    /** Sealed (see secrets.ts). */
    password: string
    state: 'creating' | 'ready' | 'resetting' | 'deleting'
    created_at: Generated<Date>
  }
  dashboard_accounts: {
    service_account: string
    user_id: number | null
    /** Sealed. */
    token: string | null
    expires_at: Date | null
    created_at: Generated<Date>
  }
  notifications: {
    topic: string
    /** A bigint, which the driver returns as text. */
    version: string
    data: string | null
  }
  replicas: { id: string; seen_at: Date }
  temporaries: { id: string; replica: string; path: string }
  /** The job is a `FileJob` as JSON. */
  file_jobs: { id: string; replica: string; user_id: number; job: string; is_cancelled: Generated<boolean> }
  /** Append-only: the database refuses to change an entry, and to delete one within 90 days. */
  activity: {
    /** A bigint, which the driver returns as text. */
    id: GeneratedAlways<string>
    at: Date
    username: string | null
    kind: ActivityKind
    action: string
    subject: string | null
    address: string
    succeeded: boolean
    /** A UUID that the platform generated. Null for entries of earlier versions. */
    entry: string | null
    /** The name of the API key that was used. Null: a session. */
    api_key: string | null
    /** The error code of a call that failed. Null: a success, or unknown. */
    failure: string | null
  }
}
