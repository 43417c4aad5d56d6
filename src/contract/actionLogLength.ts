/** How far back a log goes: so many actions, or fewer where they are long (decisions §10). Free of zod: every page after sign-in records. */
export const ACTION_LOG_LENGTH = 2000
