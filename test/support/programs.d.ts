export const PROGRAMS: string
export function compilePrograms(): void
