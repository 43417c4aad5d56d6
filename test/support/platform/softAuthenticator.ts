import { createHash, generateKeyPairSync, randomBytes, sign, type KeyObject } from 'node:crypto'

/** A passkey in memory, as a browser answers for it (WebAuthn level 3). */
export interface SoftPasskey {
  id: string
  key: KeyObject
  /** The next counter. A test may set it back. */
  counter: number
}

const base64 = (bytes: Buffer) => bytes.toString('base64url')
const sha256 = (bytes: string | Buffer) => createHash('sha256').update(bytes).digest()
const clientData = (type: string, challenge: string, origin: string) =>
  Buffer.from(JSON.stringify({ type, challenge, origin, crossOrigin: false }))

/** User present, and verified if wanted; with an attested credential if one is given. */
function authenticatorData(rpId: string, counter: number, isVerified: boolean, credential = Buffer.alloc(0)) {
  const flags = 1 | (isVerified ? 4 : 0) | (credential.length > 0 ? 64 : 0)
  const count = Buffer.alloc(4)
  count.writeUInt32BE(counter)
  return Buffer.concat([sha256(rpId), Buffer.from([flags]), count, credential])
}

/** Makes a passkey and the response to `PublicKeyCredentialCreationOptions`. */
export function makePasskey({ challenge }: { challenge: string }, origin: string, rpId = new URL(origin).hostname) {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const { x = '', y = '' } = publicKey.export({ format: 'jwk' })
  const id = randomBytes(32)
  // CBOR: {1: 2, 3: -7, -1: 1, -2: x, -3: y} (RFC 9053 §7.1.1).
  const key = Buffer.concat([
    Buffer.from('a501020326200121 5820'.replace(' ', ''), 'hex'),
    Buffer.from(x, 'base64url'),
    Buffer.from('225820', 'hex'),
    Buffer.from(y, 'base64url'),
  ])
  const credential = Buffer.concat([Buffer.alloc(16), Buffer.from([0, id.length]), id, key])
  const data = authenticatorData(rpId, 0, true, credential)
  const attestation = Buffer.concat([
    Buffer.from('a363666d74646e6f6e656761747453746d74a068617574684461746158', 'hex'),
    Buffer.from([data.length]),
    data,
  ])
  const response = {
    id: base64(id),
    rawId: base64(id),
    type: 'public-key',
    clientExtensionResults: {},
    response: {
      clientDataJSON: base64(clientData('webauthn.create', challenge, origin)),
      attestationObject: base64(attestation),
      transports: ['internal'],
    },
  }
  const passkey: SoftPasskey = { id: base64(id), key: privateKey, counter: 1 }
  return { passkey, response }
}

/** The response of a passkey to `PublicKeyCredentialRequestOptions`. */
export function assertionOf(
  passkey: SoftPasskey,
  { challenge }: { challenge: string },
  origin: string,
  { rpId = new URL(origin).hostname, isVerified = true }: { rpId?: string; isVerified?: boolean } = {},
) {
  const json = clientData('webauthn.get', challenge, origin)
  const data = authenticatorData(rpId, passkey.counter++, isVerified)
  return {
    id: passkey.id,
    rawId: passkey.id,
    type: 'public-key',
    clientExtensionResults: {},
    response: {
      clientDataJSON: base64(json),
      authenticatorData: base64(data),
      signature: base64(sign('sha256', Buffer.concat([data, sha256(json)]), passkey.key)),
    },
  }
}
