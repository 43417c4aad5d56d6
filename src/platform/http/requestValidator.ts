import type { FastifySchemaCompiler } from 'fastify'
import type { z } from 'zod'
import { issueMessage } from '../../contract/issueMessage'
import { AppError } from '../errors'

/**
 * Creates the function that checks the body, path parameters or query of a request against its schema. The failure
 * names the first invalid field.
 */
export const validatorCompiler: FastifySchemaCompiler<z.ZodType> = ({ schema, httpPart = 'body' }) => {
  return (input) => {
    const result = schema.safeParse(input, { error: issueMessage })
    return result.success ? { value: result.data } : { error: invalidInput(result.error, httpPart) }
  }
}

function invalidInput({ issues: [issue] }: z.ZodError, httpPart: string): AppError {
  const unknownKey = issue?.code === 'unrecognized_keys' ? issue.keys[0] : undefined
  const field = [...(issue?.path ?? []), ...(unknownKey === undefined ? [] : [unknownKey])].join('.')
  const message = unknownKey !== undefined ? 'is not known here' : (issue?.message ?? 'is not valid')
  return field === ''
    ? new AppError('INVALID_INPUT', `The request’s ${httpPart} is not valid: ${message}`)
    : new AppError('INVALID_INPUT', `${field}: ${message}`, { field })
}
