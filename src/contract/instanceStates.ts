/** Free of zod, which the console's pages do without. */
export const INSTANCE_STATES = ['STARTING', 'RUNNING', 'BLOCKED', 'STOPPING', 'STOPPED'] as const
