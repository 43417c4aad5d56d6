export function folder(): string | undefined
