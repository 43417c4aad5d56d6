export function program(): string | undefined
