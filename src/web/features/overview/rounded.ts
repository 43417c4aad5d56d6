/** Without zeros that say nothing: 4.3, 4, 0.01. */
export const rounded = (value: number, digits: number) => value.toFixed(digits).replace(/\.0+$/, '')
