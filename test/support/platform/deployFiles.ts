import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { parseAllDocuments } from 'yaml'

const DEPLOY = resolve(__dirname, '../../../src/deploy')

/** Path of a file of `src/deploy`. */
export const deployPath = (name: string) => join(DEPLOY, name)

export const readDeployFile = (name: string) => readFileSync(deployPath(name), 'utf8')

/** The part of a Kubernetes object, or of another YAML document, that tests read. */
export interface Manifest {
  kind: string
  metadata: { name: string; labels?: Record<string, string> }
  rules: { apiGroups: string[]; resources: string[]; verbs: string[]; resourceNames?: string[] }[]
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- as deep as the kind of object wants
  spec: any
}

/** The documents of a YAML file of `src/deploy`. @throws Error if it cannot be parsed */
export function readManifests(name: string): Manifest[] {
  return parseAllDocuments(readDeployFile(name)).map((document) => {
    if (document.errors.length > 0) throw new Error(`${name}: ${document.errors.join(', ')}`)
    return document.toJS() as Manifest
  })
}
