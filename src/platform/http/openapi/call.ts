import type {} from '@fastify/swagger'
import { z } from 'zod'
import type { ErrorCode } from '../../../contract/errors'

declare module 'fastify' {
  interface FastifySchema {
    /** Codes with which this call may fail, in addition to those of every call (see `codesOf`). */
    errors?: readonly ErrorCode[]
    /** The fields of a form that the handler reads itself. For the description only. */
    form?: z.ZodType
    /** Responses by status that the handler serializes itself. For the description only. */
    rawResponses?: Record<number, z.ZodType | { description: string; content: Record<string, { schema: z.ZodType }> }>
  }
}

/**
 * Returns the parts of a route's schema other than its input and output.
 * @param operationId a verb with its object, which clients have as the name of the call
 * @param summary what the call does, in the imperative
 * @param errors codes with which it may fail, in addition to those of every call
 */
export function call(operationId: string, summary: string, ...errors: ErrorCode[]) {
  return { operationId, summary, errors }
}

/** The content of a file. */
export const bytes = z.string().meta({ format: 'binary' })

/** A response that is a file. */
export const bytesOf = (type: string) => ({ description: 'The content.', content: { [type]: { schema: bytes } } })

/** A response without a body. */
export const nothing = z.undefined()
