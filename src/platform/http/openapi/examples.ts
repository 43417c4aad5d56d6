import { STATUS_CODES } from 'node:http'
import { responseExamples } from './responseExamples'
import { bodyExamples } from './bodyExamples'
import { INVITE_CODE, UUID } from './exampleValues'

/** Values of parameters by their name. */
const parameters: Partial<Record<string, unknown>> = {
  name: 'lobby',
  deployment: 'lobby',
  type: 'sql',
  uid: UUID,
  pod: 'lobby-3fa9c1',
  path: '/nfsshare/lobby/server.properties',
  code: INVITE_CODE,
}

interface Operation {
  operationId?: string
  parameters?: { name: string; schema?: { type?: string }; example?: unknown }[]
  requestBody?: { content: Record<string, { example?: unknown }> }
  responses?: Record<string, { description: string; content?: Record<string, { example?: unknown }> }>
}

/** Adds the examples, and descriptions of successes, to a document. @returns the same document */
export function addExamples<Document extends object>(document: Document): Document {
  const { paths } = document as { paths?: Record<string, Record<string, Operation>> }
  for (const operation of Object.values(paths ?? {}).flatMap((path) => Object.values(path))) {
    const { operationId = '', requestBody, responses = {} } = operation
    for (const parameter of operation.parameters ?? []) {
      const example = parameters[parameter.name]
      if (example !== undefined && parameter.schema?.type !== 'integer') parameter.example = example
    }
    const body = requestBody?.content['application/json']
    if (body && bodyExamples[operationId] !== undefined) body.example = bodyExamples[operationId]
    for (const [status, response] of Object.entries(responses)) {
      if (response.description === 'Default Response') response.description = STATUS_CODES[status] ?? ''
      const success = response.content?.['application/json']
      if (status.startsWith('2') && success && responseExamples[operationId])
        success.example = { success: true, data: responseExamples[operationId] }
    }
  }
  return document
}
