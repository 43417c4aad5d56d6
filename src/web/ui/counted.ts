/** @param digits of the number, if it is to be shown in another way */
export const counted = (count: number, noun: string, digits = String(count)) =>
  `${digits} ${noun}${count === 1 ? '' : 's'}`
