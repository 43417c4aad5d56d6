/** A recovery or invite code, which the server takes in any case, with or without dashes and blanks. */
const CODE = /^\s*(?:[a-z2-9]{4}[\s-]*){3,4}$/i
/** A one-time code, which is typed in groups. */
const DIGITS = /^[\s\d-]+$/

/**
 * Returns a secret and its other forms. Where it is not encoded they are found all the same, but the Base64 and the
 * bytes of each are different: what the server trims, composes (NFC), or takes of a code.
 */
export function formsOf(secret: string): string[] {
  const forms = [secret, secret.trim(), secret.trim().normalize('NFC'), secret.trim().normalize('NFD')]
  if (DIGITS.test(secret)) forms.push(secret.replace(/\D/g, ''))
  if (CODE.test(secret)) {
    const groups = secret.toUpperCase().match(/[A-Z2-9]{4}/g) ?? []
    forms.push(groups.join(''), groups.join('-'))
  }
  return [...new Set(forms)]
}
