import type { Socket } from 'node:net'
import { Client, type ClientConfig } from 'pg'

/** A longer message is refused. The platform's largest responses are a few megabytes. */
const MESSAGE_MAX_BYTES = 64 * 1024 * 1024
/** Maximum size of a message that is checked as a whole. Such messages are descriptions and errors. */
const CHECKED_MAX_BYTES = 1024 * 1024
/** The type and the length of a message (PostgreSQL protocol, "Message Formats"). */
const HEADER_BYTES = 5

type Listener = (chunk: Buffer) => void
/** Members of pg that its types lack. */
type Internals = {
  host: string
  ssl: unknown
  connection: {
    ssl: unknown
    stream: Socket
    attachListeners(stream: Pick<Socket, 'on'>): unknown
  }
}

/**
 * A client for servers that may not be what they claim: on a loopback port, a program may answer in the place of a
 * server that restarts.
 *
 * - It sends a password, also as an MD5 hash, only over TLS or a Unix socket. SCRAM proves that the server knows the
 *   password too (RFC 5802).
 * - It uses no TLS on a Unix socket.
 * - A malformed message is a connection error. pg throws for some in a listener, which would end the process, and never
 *   returns from others: a text without its end, for example.
 *
 * Everything else is as in pg.
 */
export class PostgresClient extends Client {
  constructor(config?: string | ClientConfig) {
    super(config)
    const { connection, host } = this.internals
    // As in libpq. Without this, PGSSLMODE in the environment would be for the embedded server, too.
    if (host.startsWith('/')) Object.assign(this.internals, { ssl: false }).connection.ssl = false
    const attach = connection.attachListeners.bind(connection)
    connection.attachListeners = (stream) => attach(guarded(stream as Socket))
  }

  private get internals(): Internals {
    return this as unknown as Internals
  }

  private refusePlainPassword(): boolean {
    const { connection, host } = this.internals
    if (connection.ssl || host.startsWith('/')) return false
    connection.stream.destroy(
      new Error(
        'The PostgreSQL server asks for a password without encryption. Set password_encryption to scram-sha-256 on the ' +
          'server and set the password again, or connect by a Unix socket or with sslmode=verify-full.',
      ),
    )
    return true
  }

  /** Overrides methods of pg. */
  protected _handleAuthCleartextPassword(message: unknown): void {
    if (!this.refusePlainPassword()) handlers._handleAuthCleartextPassword.call(this, message)
  }

  protected _handleAuthMD5Password(message: unknown): void {
    if (!this.refusePlainPassword()) handlers._handleAuthMD5Password.call(this, message)
  }
}

const handlers = Client.prototype as unknown as Record<
  '_handleAuthCleartextPassword' | '_handleAuthMD5Password',
  (this: Client, message: unknown) => void
>

/** Passes the chunks of a stream to its listener while they are well-formed messages. */
function guarded(stream: Socket): Pick<Socket, 'on'> {
  const check = createMessageCheck()
  const on = (event: string, listener: Listener) =>
    stream.on(
      event,
      event !== 'data'
        ? listener
        : (chunk: Buffer) => {
            if (stream.destroyed) return
            try {
              check(chunk)
              listener(chunk)
            } catch (error) {
              stream.destroy(error instanceof Error ? error : new Error(String(error)))
            }
          },
    )
  return { on: on as Socket['on'] }
}

/**
 * Returns a function that takes the chunks of a connection in order.
 * @throws Error for a message whose length is invalid or whose texts do not end inside it
 */
function createMessageCheck(): (chunk: Buffer) => void {
  let header = Buffer.alloc(0)
  /** The body of the current message, if it is checked. */
  let body: Buffer[] | undefined
  let missing = 0

  return (chunk) => {
    let at = 0
    while (at < chunk.length) {
      if (missing === 0) {
        const part = chunk.subarray(at, at + HEADER_BYTES - header.length)
        header = Buffer.concat([header, part])
        at += part.length
        if (header.length < HEADER_BYTES) return
        missing = header.readInt32BE(1) - 4
        const isChecked = header[0]! in checks
        if (missing < 0 || missing > (isChecked ? CHECKED_MAX_BYTES : MESSAGE_MAX_BYTES)) throw malformed()
        body = isChecked ? [] : undefined
      }
      const part = chunk.subarray(at, at + missing)
      body?.push(part)
      at += part.length
      missing -= part.length
      if (missing > 0) return
      if (body && !checks[header[0]!]!(Buffer.concat(body))) throw malformed()
      header = Buffer.alloc(0)
    }
  }
}

/**
 * With PostgreSQL's code of a protocol violation, so that it counts as unreachable: a server that cannot start a
 * process for a connection sends a bare text.
 */
const malformed = () => Object.assign(new Error('The PostgreSQL server sent a malformed message.'), { code: '08P01' })

/** The index after the NUL of the text that starts at `at`; -1 without one. */
const endOfText = (body: Buffer, at: number): number => (at < 0 ? -1 : body.indexOf(0, at) + 1 || -1)

/** A list of texts, ended by an empty one. `prefix` bytes come before each. */
function isTextList(body: Buffer, start: number, prefix: number): boolean {
  let at = start
  while (at < body.length && body[at] !== 0) {
    at = endOfText(body, at + prefix)
    if (at === -1) return false
  }
  return at < body.length
}

const SASL = 10
/** The fixed part of a column in RowDescription. */
const COLUMN_BYTES = 18

/** For each type of message, whether its texts end inside it. Messages without texts need no check. */
const checks: Record<number, (body: Buffer) => boolean> = {
  [code('C')]: (body) => endOfText(body, 0) !== -1,
  [code('S')]: (body) => endOfText(body, endOfText(body, 0)) !== -1,
  [code('A')]: (body) => endOfText(body, endOfText(body, 4)) !== -1,
  [code('E')]: (body) => isTextList(body, 0, 1),
  [code('N')]: (body) => isTextList(body, 0, 1),
  [code('R')]: (body) => body.length >= 4 && (body.readInt32BE(0) !== SASL || isTextList(body, 4, 0)),
  [code('T')]: (body) => {
    if (body.length < 2) return false
    let at = 2
    for (let column = 0; column < body.readInt16BE(0); column++) {
      const end = endOfText(body, at)
      if (end === -1) return false
      at = end + COLUMN_BYTES
    }
    return at <= body.length
  },
}

function code(type: string): number {
  return type.charCodeAt(0)
}
