export function modules(): string | undefined
