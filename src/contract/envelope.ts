import { z } from 'zod'

/** The body of every successful call: `{success: true, data}` (decisions §1). */
export const success = <Data extends z.ZodType>(data: Data) => z.object({ success: z.literal(true), data })

/** The response of a call without a result. */
export const Done = success(z.object({}))
export type Done = z.infer<typeof Done>

/** The body of a call without input: missing, or an empty object for clients that always send JSON. */
export const Nothing = z.strictObject({}).nullish()
