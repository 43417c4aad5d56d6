import { z } from 'zod'
import * as access from '../../../contract/access'
import * as admin from '../../../contract/admin'
import * as auth from '../../../contract/signIn/auth'
import * as database from '../../../contract/database'
import * as deployment from '../../../contract/deployment'
import * as discovery from '../../../contract/discovery'
import * as disk from '../../../contract/disk'
import * as envelope from '../../../contract/envelope'
import * as errors from '../../../contract/errors'
import * as file from '../../../contract/file'
import * as instance from '../../../contract/instance'
import * as metric from '../../../contract/metric'
import * as network from '../../../contract/network'
import * as signInMethods from '../../../contract/signIn/signInMethods'
import { SHARED_ROOT } from '../../../contract/pageRules'

type Json = Record<string, unknown>

/** The minimum that `parsePath` requires. */
const SHARED_PATH = `^${SHARED_ROOT}(?:/[^/]+)*/?$`

const REFERENCE = '#/components/schemas/'

/**
 * Names every exported schema of the contract after its export, so that the description refers to it by this name. Not
 * in the contract, because the console does not need the names.
 */
export function nameSchemas(): void {
  const exported: [string, unknown][] = Object.entries({
    ...access,
    ...admin,
    ...auth,
    ...database,
    ...deployment,
    ...discovery,
    ...disk,
    ...envelope,
    ...errors,
    ...file,
    ...instance,
    ...metric,
    ...network,
    ...signInMethods,
  })
  for (const [name, schema] of exported) {
    if (schema instanceof z.ZodType) z.globalRegistry.add(schema, { ...z.globalRegistry.get(schema), id: name })
  }
  z.globalRegistry.add(file.SharedPath, { id: 'SharedPath', pattern: SHARED_PATH })
}

/**
 * Keeps the components that the document uses. The generator makes two components of each schema, for input
 * (`LoginInput`) and for output (`Login`). The input's gets the plain name if the output's is unused or identical.
 */
export function tidyComponents<Document extends object>(document: Document): Document {
  const { schemas, ...components } = ((document as Json).components ?? {}) as { schemas?: Record<string, Json> }
  const rest: Json = { ...document, components }
  const used = usedComponents(rest, schemas ?? {})
  const renamed = new Map<string, string>()
  for (const name of used) {
    const plain = name.replace(/Input$/, '')
    if (plain === name || !schemas?.[plain]) continue
    if (!used.has(plain) || sameInBoth(schemas[name], schemas[plain])) renamed.set(name, plain)
  }
  const kept = Object.fromEntries([...used].sort().map((name) => [renamed.get(name) ?? name, schemas?.[name]] as const))
  return JSON.parse(JSON.stringify({ ...rest, components: { ...components, schemas: kept } }), (key, value: unknown) =>
    key === '$ref' && typeof value === 'string' ? value.replace(/[^/]+$/, (name) => renamed.get(name) ?? name) : value,
  ) as Document
}

function usedComponents(document: Json, schemas: Record<string, Json>): Set<string> {
  const used = new Set<string>()
  const visit = (part: unknown): void => {
    for (const name of referencesIn(part)) {
      if (used.has(name) || !schemas[name]) continue
      used.add(name)
      visit(schemas[name])
    }
  }
  visit(document)
  return used
}

function referencesIn(part: unknown): string[] {
  return [...(JSON.stringify(part) ?? '').matchAll(/"\$ref":"#\/components\/schemas\/([^"]+)"/g)].map(
    ([, name]) => name!,
  )
}

function sameInBoth(input: Json | undefined, output: Json | undefined): boolean {
  const plain = (schema: Json | undefined) => JSON.stringify(schema).replaceAll(/Input"/g, '"')
  return plain(input) === plain(output)
}

/** A reference to the component of a schema. */
export const referenceTo = (name: string) => ({ $ref: `${REFERENCE}${name}` })
