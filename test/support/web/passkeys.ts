const bytes = (text: string) => new TextEncoder().encode(text).buffer

/** What a browser returns for a passkey, as far as the console reads it. The platform's tests check real ones. */
const credential = {
  id: 'cHV0LW1l',
  rawId: bytes('put-me'),
  type: 'public-key',
  authenticatorAttachment: 'platform',
  getClientExtensionResults: () => ({}),
  response: {
    attestationObject: bytes('attestation'),
    authenticatorData: bytes('data'),
    clientDataJSON: bytes('{}'),
    signature: bytes('signature'),
    userHandle: bytes('user 1'),
    getTransports: () => ['internal'],
    getAuthenticatorData: () => bytes('data'),
    getPublicKey: () => null,
    getPublicKeyAlgorithm: () => -7,
  },
}

/** Options as the platform sends them. */
export const passkeyOptions = {
  challenge: 'Y2hhbGxlbmdl',
  rpId: 'localhost',
  rp: { id: 'localhost', name: 'Quarterdeck' },
  user: { id: 'dXNlciAx', name: 'ann', displayName: '' },
  pubKeyCredParams: [{ alg: -7, type: 'public-key' }],
}

/**
 * Gives the page a browser with passkeys until the end of the test. `refuse` lets the next prompt fail with that error.
 */
export function installPasskeys() {
  const failures: DOMException[] = []
  const prompt = jest.fn(async () => {
    const failure = failures.shift()
    if (failure) throw failure
    return credential
  })
  Object.assign(window, { PublicKeyCredential: class {} })
  Object.defineProperty(navigator, 'credentials', { value: { get: prompt, create: prompt }, configurable: true })
  return { prompt, refuse: (name: string) => void failures.push(new DOMException('refused', name)) }
}

export function removePasskeys() {
  Reflect.deleteProperty(window, 'PublicKeyCredential')
  Reflect.deleteProperty(navigator, 'credentials')
}
